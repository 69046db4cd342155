// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   node web/screenshots.mjs RECONVERGE CHROMIUM
//
// Profiles the bitonic sort and writes the pictures of docs/images/ anew: the
// page's views as a user sees them first. Run it at the root of the repository.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, withBrowser } from "./test/browser.mjs";

const [reconverge, chromium] = process.argv.slice(2);
const views = { overview: [1280, 620], source: [1280, 620], flow: [1280, 620], warps: [1280, 560] };
const out = "docs/images";

const folder = mkdtempSync(join(tmpdir(), "reconverge-screenshots-"));
try {
  const [run, page] = [join(folder, "run.json"), join(folder, "run.html")];
  execFileSync(reconverge, ["profile", "-q", "--raw", "--device", "cpu", "examples/bitonic/bitonic.cu", "-o", run]);
  execFileSync(reconverge, ["report", run, "-o", page]);
  mkdirSync(out, { recursive: true });
  await withBrowser(chromium, async (context) => {
    const { page: tab } = await open(context, page);
    for (const [view, [width, height]] of Object.entries(views)) {
      await tab.setViewportSize({ width, height });
      await tab.locator(`#tab-${view}`).click();
      if (view === "source") await tab.locator("button.self").first().click();
      await tab.waitForTimeout(300);
      await tab.screenshot({ path: join(out, `page-${view}.png`) });
    }
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
