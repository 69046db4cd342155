// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   formats.mjs RECONVERGE RUN.JSON
//
// What RECONVERGE writes for speedscope and as SARIF is what their schemas say,
// and speedscope's weights add up to the run's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import Ajv from "ajv";
import Ajv04 from "ajv-draft-04";

const [reconverge, input] = process.argv.slice(2);
const resolve = createRequire(import.meta.url).resolve;
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const report = (format) =>
  JSON.parse(execFileSync(reconverge, ["report", input, "--format", format], { maxBuffer: 1 << 30 }).toString());

function check(validate, value, what) {
  assert.ok(validate(value), `${what}: ${JSON.stringify(validate.errors, null, 1)}`);
}

const run = read(input);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const close = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, b), `${what}: ${a}, not ${b}`);

const options = { strict: false, validateFormats: false, unicodeRegExp: false, allErrors: true };
const flames = report("speedscope");
const speedscope = dirname(resolve("speedscope/package.json"));
const schema = read(join(speedscope, "dist/release/file-format-schema.json"));
check(new Ajv(options).compile(schema), flames, "speedscope");
const [wasted, taken] = flames.profiles;
close(sum(wasted.weights), sum(run.kernels.map((k) => k.cost.slots - k.cost.fullSlots)), "wasted slots");
close(sum(taken.weights), sum(run.kernels.map((k) => k.cost.slots)), "issue slots");
for (const { samples, weights } of flames.profiles) {
  assert.equal(samples.length, weights.length);
  for (const frame of samples.flat()) assert.ok(frame < flames.shared.frames.length);
}

const sarif = report("sarif");
const schemas = join(dirname(resolve("@microsoft/jest-sarif/package.json")), "lib/schemas");
check(new Ajv04(options).compile(read(join(schemas, "sarif-2.1.0-rtm.5.json"))), sarif, "SARIF");
const results = sarif.runs[0].results.filter((r) => r.ruleId === "divergent-branch");
assert.equal(results.length, run.places.filter((p) => p.self >= 0.01).length);
for (const r of sarif.runs[0].results) assert.equal(sarif.runs[0].tool.driver.rules[r.ruleIndex].id, r.ruleId);
console.log("speedscope and SARIF are as their schemas say");
