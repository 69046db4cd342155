// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A headless Chromium that opens files, and writes down all that a page should
// not do: errors, warnings, requests for anything but the file itself.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export async function withBrowser(executablePath, work) {
  const profile = mkdtempSync(join(tmpdir(), "reconverge-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    viewport: { width: 1280, height: 900 },
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  try {
    return await work(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** The page at `path`, and a list of what it did that it should not have. */
export async function open(context, path) {
  const page = await context.newPage();
  const faults = [];
  const address = pathToFileURL(path).href;
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && faults.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => faults.push(`error: ${e.message}`));
  page.on("dialog", (d) => (faults.push(`dialog: ${d.message()}`), d.dismiss()));
  page.on("request", (r) => {
    const url = r.url();
    if (url.split("#")[0] !== address && !url.startsWith("data:")) faults.push(`request: ${url}`);
  });
  await page.goto(address);
  return { page, faults };
}
