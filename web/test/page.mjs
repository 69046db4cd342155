// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   page.mjs RECONVERGE CHROMIUM FOLDER
//
// FOLDER has run.json (a raw report) and decisions.json. Opens the page that
// RECONVERGE makes of them in each view, and looks for the numbers of the JSON;
// then the same with names that are markup; both in light and in dark, as axe
// sees them. Last: by keyboard alone.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { open, withBrowser } from "./browser.mjs";

const [reconverge, chromium, folder] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const percent = (x) => `${(100 * x).toFixed(1)}%`;
const ratio = (x) => `${x.toFixed(2)}x`;

function makePage(name, run, decisions) {
  const [json, tried, page] = [`${name}.json`, `${name}-decisions.json`, `${name}.html`].map((f) => join(folder, f));
  writeFileSync(json, JSON.stringify(run));
  writeFileSync(tried, JSON.stringify(decisions));
  execFileSync(reconverge, ["report", json, "--decisions", tried, "-o", page]);
  return page;
}

async function show(page, view) {
  await page.locator(`#tab-${view}`).click();
  const panel = page.locator(`#panel-${view}`);
  await panel.waitFor({ state: "visible" });
  return panel;
}

/** The cells of each row of the table with that caption. */
async function rowsOf(panel, caption) {
  const table = panel.locator("table", { has: panel.page().locator("caption", { hasText: caption }) });
  assert.equal(await table.count(), 1, `one table "${caption}"`);
  return table.locator("tbody tr:not(.below)").evaluateAll((rows) => rows.map((r) => [...r.cells].map((c) => c.innerText.trim())));
}

/** Tables that are wider than the window scroll; those of most views need not. */
async function checkWidths(page, view) {
  const panel = await show(page, view);
  for (const region of await panel.locator(".scrolls").all()) {
    const [all, shown] = await region.evaluate((r) => [r.scrollWidth, r.clientWidth]);
    assert.ok(all <= shown, `${await region.getAttribute("aria-label")}: ${all} of ${shown} pixels`);
  }
}

async function checkOverview(page, run) {
  await checkWidths(page, "overview");
  const panel = await show(page, "overview");
  const places = await rowsOf(panel, "Where lanes part");
  const worth = run.places.filter((p) => p.self >= 0.001);
  assert.equal(places.length, worth.length);
  worth.forEach((place, i) => {
    assert.equal(places[i][1], percent(place.self));
    assert.equal(places[i][2], percent(place.cost));
    assert.equal(places[i][5], percent(place.recoverInGrid));
    const { kernel, branch } = place.branches[0];
    assert.ok(places[i][0].includes(run.kernels[kernel].branches[branch].condition), places[i][0]);
  });
  const kernels = await rowsOf(panel, "Kernels, dearest first");
  assert.equal(kernels.length, run.kernels.length);
  for (const k of run.kernels) {
    const row = kernels.find((r) => r[4] === percent(k.cost.ofRun) && r[5] === percent(k.cost.cfe));
    assert.ok(row, `a row of ${k.display}`);
    assert.equal(row[6], ratio(k.cost.potential));
    assert.ok(row[8].startsWith(k.cost.time.boundBy), row[8]);
  }
  // The page and the terminal say the same of what helps, and of what to do.
  const text = execFileSync(reconverge, ["report", join(folder, "plain.json"), "--top", "0"], { encoding: "utf8", env: { ...process.env, COLUMNS: "500" } });
  const advice = await panel.locator("tr.below li").allInnerTexts();
  assert.deepEqual(advice, [...text.matchAll(/^    -> (.*)$/gm)].map((m) => m[1]));
  const [words, command] = [await panel.locator(".first p").last().innerText(), await panel.locator(".first pre").innerText()];
  assert.match(command, /^reconverge optimize /);
  assert.ok(text.includes(`\n${words} ${command}\n`), `${words} ${command}`);
  // An access leads to its line.
  const access = panel.locator("table", { has: page.locator("caption", { hasText: "Requests to memory" }) }).locator("a.code");
  if (await access.count()) assert.match(await access.first().getAttribute("href"), /^#source-\d+-\d+$/);
}

async function checkSource(page, run) {
  const panel = await show(page, "source");
  const place = run.places[0];
  const { kernel, branch } = place.branches[0];
  const { where, condition } = run.kernels[kernel].branches[branch];
  const text = readFileSync(where[0].file, "utf8").split("\n");
  const row = panel.locator(`#line-${where[0].line}`);
  assert.equal((await row.locator("td.code").innerText()).trim(), text[where[0].line - 1].trim());
  const button = row.locator("button");
  assert.equal(await button.innerText(), percent(place.self));
  await button.click();
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  const details = panel.locator(".opened:visible .details");
  assert.ok((await details.innerText()).includes(condition));
  assert.ok((await details.innerText()).includes(`total ${percent(place.cost)}`));
  // From the overview a click leads to the same line.
  const overview = await show(page, "overview");
  await overview.locator("a.code").first().click();
  await row.waitFor({ state: "visible" });
  assert.equal(await button.getAttribute("aria-expanded"), "true", "it stays open");
  assert.match(await row.getAttribute("class"), /\bsought\b/);
}

async function checkLanes(page, run) {
  const panel = await show(page, "lanes");
  await panel.locator("select").selectOption({ index: 1 });
  const k = run.kernels[0];
  const slots = new Map();
  for (const b of k.blocks)
    if (b.warps) {
      const lanes = Math.round(b.lanes / b.warps);
      slots.set(lanes, (slots.get(lanes) ?? 0) + b.issueSlots * b.warps);
    }
  const all = [...slots.values()].reduce((a, b) => a + b, 0);
  const expected = [...slots].filter(([, n]) => n > 0).sort(([a], [b]) => a - b).map(([lanes, n]) => [String(lanes), percent(n / all)]);
  assert.deepEqual((await rowsOf(panel, "Issue slots by lanes")).map((r) => [r[0], r[2]]), expected);
  assert.equal(await panel.locator("figure rect").count(), expected.length);
}

async function checkFlow(page, run) {
  const panel = await show(page, "flow");
  const names = await panel.locator("option").allInnerTexts();
  const dearest = run.kernels.reduce((a, b) => (b.cost.ofRun > a.cost.ofRun ? b : a));
  assert.equal(names.length, run.kernels.length);
  const ran = dearest.blocks.map((b, i) => ({ ...b, i })).filter((b) => b.warps);
  const rows = await rowsOf(panel, "Basic blocks that ran");
  assert.deepEqual(rows.map((r) => r[0]), ran.map((b) => String(b.i)));
  ran.forEach((b, row) => {
    assert.equal(rows[row][4], percent(b.lanes / (b.warps * dearest.warpSize)));
    const next = (b.successors ?? []).map(String);
    assert.deepEqual(rows[row][6].split("; ").filter(Boolean).map((s) => s.split(":")[0]), next);
  });
  const edges = ran.flatMap((b) => (b.successors ?? []).filter((s) => dearest.blocks[s].warps));
  assert.equal(await panel.locator("svg rect.box").count(), ran.length);
  assert.equal(await panel.locator("svg path.edge").count(), edges.length);
}

async function checkWarps(page, run) {
  const panel = await show(page, "warps");
  const k = run.kernels.find((k) => k.vectors);
  const { classes, blocks } = k.vectors;
  const threads = blocks.reduce((n, b) => n + b.runs.reduce((m, x, i) => (i % 2 ? m + x : m), 0), 0);
  assert.match(await panel.innerText(), new RegExp(`${Math.ceil(threads / k.warpSize)} warps`));
  // The lanes of all warps together ran a block this often.
  const sums = k.blocks.map((_, b) =>
    blocks.reduce((n, t) => n + t.runs.reduce((m, x, i) => (i % 2 ? m + x * classes[t.runs[i - 1]].counts[b] : m), 0), 0),
  );
  const rows = await rowsOf(panel, "Basic blocks over these warps");
  assert.deepEqual(rows.map((r) => Number(r[0])), [...k.blocks.keys()].filter((b) => sums[b] > 0));
  const canvas = panel.locator("canvas");
  await canvas.focus();
  await canvas.press("ArrowDown");
  assert.match(await panel.locator("[aria-live]").innerText(), /^warp \d+ \(thread block \d+\), .*: [\d.k]+ executions/);
}

async function checkLaunches(page, run) {
  const panel = await show(page, "launches");
  const total = run.trace.launches.length / 3;
  assert.ok((await panel.innerText()).includes(`${total} launch`));
  const rows = await rowsOf(panel, "Launches, one row");
  const last = rows.at(-1)[0].split(" to ").at(-1);
  assert.equal(Number(last), total);
  assert.equal(await panel.locator("figure rect").count(), rows.length);
}

async function checkOptimize(page, decisions) {
  const panel = await show(page, "optimize");
  const kept = await rowsOf(panel, "What is kept");
  assert.equal(kept.length, decisions.kernels.length);
  const tried = await rowsOf(panel, "What was tried");
  const all = decisions.kernels.flatMap((k) => k.tried);
  assert.equal(tried.length, all.length);
  all.forEach((t, i) => {
    if (t.predicted > 0) assert.ok(tried[i][3].startsWith(ratio(t.predicted)), tried[i][3]);
    if (t.speedup > 0) assert.ok(tried[i][4].startsWith(ratio(t.speedup)), tried[i][4]);
    assert.equal(tried[i][6], t.outcome);
    assert.ok(tried[i][5].startsWith(t.verdict.launches ? t.verdict.kind : "-"), tried[i][5]);
  });
  const { quality } = decisions;
  assert.ok((await panel.innerText()).includes(quality.verdict));
  const sets = await rowsOf(panel, "What its outputs allow");
  assert.deepEqual(
    sets.map((s) => s.slice(1, 5)),
    [["1.40x", "3.1 %", "1.35x, 3.2 %", "kept"], ["1.60x", "9.9 %", "-", "of the best"]],
  );
  const timed = all.filter((t) => t.predicted > 0 && t.speedup > 0);
  assert.equal(await panel.locator("figure circle").count(), timed.length);
}

async function checkAccessible(page, theme) {
  while ((await page.locator(".theme").innerText()) !== `Colours: ${theme}`) await page.locator(".theme").click();
  for (const tab of await page.locator("[role=tab]").all()) {
    await tab.click();
    const { violations } = await page.evaluate(() => window.axe.run());
    const said = violations.map((v) => `${v.id}: ${v.help}\n  ${v.nodes.slice(0, 3).map((n) => n.html).join("\n  ")}`);
    assert.deepEqual(said, [], `${await tab.innerText()} in ${theme}`);
  }
}

async function checkKeyboard(page) {
  // The page draws after the key, not with it.
  const selected = (tab) => page.locator(`#tab-${tab}[aria-selected=true]`).waitFor();
  await page.locator("#tab-overview").click();
  await page.keyboard.press("ArrowRight");
  await selected("source");
  assert.equal(await page.locator("#panel-overview").isVisible(), false);
  await page.keyboard.press("End");
  await selected("optimize");
  assert.match(page.url(), /#optimize$/);
  await page.keyboard.press("ArrowRight");
  await selected("overview");
}

async function checkViews(page, run, decisions) {
  await checkOverview(page, run);
  await checkSource(page, run);
  await checkLanes(page, run);
  await checkFlow(page, run);
  await checkWarps(page, run);
  await checkLaunches(page, run);
  await checkOptimize(page, decisions);
}

/** The same run, in which all names and texts try to be markup. */
function hostile(run, decisions) {
  const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&amp;`;
  const [bad, worse] = [structuredClone(run), structuredClone(decisions)];
  bad.program = evil;
  bad.arguments = [evil];
  bad.device = evil;
  bad.notes = [evil];
  bad.refused = [evil];
  for (const k of bad.kernels) {
    k.display = `k<${evil}>(int*)`;
    for (const b of k.branches) b.condition = `${b.condition} ${evil}`;
    for (const b of [k, ...k.branches, ...k.blocks]) for (const w of b.where) w.function = evil;
  }
  for (const k of worse.kernels) {
    k.display = evil;
    k.why = evil;
    for (const t of k.tried) {
      t.why = evil;
      if (t.outcome !== "kept") t.candidate.parameters = `tree=${"36:4/0:310000/".repeat(20)}${"0".repeat(200)}`;
    }
  }
  worse.notes = [evil];
  worse.quality.verdict = evil;
  for (const s of worse.quality.sets) s.candidates[0].kernel = evil;
  return [bad, worse];
}

const run = JSON.parse(readFileSync(join(folder, "run.json"), "utf8"));
const decisions = JSON.parse(readFileSync(join(folder, "decisions.json"), "utf8"));
await withBrowser(chromium, async (context) => {
  const plain = await open(context, makePage("plain", run, decisions));
  await checkViews(plain.page, run, decisions);
  await checkKeyboard(plain.page);
  await plain.page.evaluate(readFileSync(axe, "utf8"));
  await checkAccessible(plain.page, "light");
  await checkAccessible(plain.page, "dark");
  assert.deepEqual(plain.faults, []);

  const [bad, worse] = hostile(run, decisions);
  const attacked = await open(context, makePage("hostile", bad, worse));
  await checkOptimize(attacked.page, worse);
  await checkWidths(attacked.page, "overview");
  await checkWidths(attacked.page, "optimize");
  for (const tab of await attacked.page.locator("[role=tab]").all()) await tab.click();
  assert.equal(await attacked.page.locator("img, script:not([type])").count(), 0);
  assert.ok((await attacked.page.locator("h1").innerText()).includes("<img src=x onerror=alert(2)>"));
  assert.deepEqual(attacked.faults, []);
});
console.log("the page shows what the JSON says");
