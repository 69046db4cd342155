// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `reconverge optimize` tried, kernel by kernel: what it kept, what was
// compared, and what was predicted beside what was achieved.

import type { Data, Decided, QualitySet, Trial } from "./data";
import { figure, Plot } from "./charts";
import { count, counted, h, nothing, ratio, table } from "./dom";

type Row = { kernel: Decided; trial: Trial; why: string };

/** Where a long one may be broken: between its parameters. */
function candidate(text: string): Node {
  return h("span", {}, ...text.split(/(?<=[;/])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part])));
}

/** The trials, each reason once where it holds for all that follow each other. */
function rowsOf(kernel: Decided): Row[] {
  return kernel.tried.map((trial, i) => {
    const isSame = i > 0 && trial.why !== "" && trial.why === kernel.tried[i - 1].why;
    return { kernel, trial, why: isSame ? "the same" : trial.why };
  });
}

const range = ([value, low, high]: [number, number, number]) =>
  value > 0 ? (high > low ? `${ratio(value)} (${ratio(low)} to ${ratio(high)})` : ratio(value)) : "-";

function kept(kernels: Decided[]): HTMLElement {
  const gain = (k: Decided) => {
    if (k.keep === "none") return "-";
    const over = k.baseline ? `${k.baseline}'s` : "our";
    const words = k.measured ? `${ratio(k.gain)} over ${over} build` : `${ratio(k.gain)} by its issue slots`;
    return k.baseline ? `${words}, which is ${ratio(k.compilerGain)} over ours` : words;
  };
  return table<Decided>(
    "What is kept",
    [
      { title: "kernel", text: (k) => k.name },
      { title: "kept", text: (k) => k.keep, cell: (k) => candidate(k.keep), wide: true },
      { title: "gain", text: gain },
      { title: "before, ms", text: (k) => (k.milliseconds > 0 ? k.milliseconds.toPrecision(4) : "-"), number: true },
      {
        title: "after, ms",
        text: (k) => {
          const ms = k.tried.find((t) => t.what === k.keep)?.milliseconds ?? 0;
          return ms > 0 ? ms.toPrecision(4) : "-";
        },
        number: true,
      },
      { title: "why", text: (k) => k.why, wide: true },
    ],
    kernels,
  );
}

function tried(rows: Row[]): HTMLElement {
  const verdict = ({ trial }: Row) =>
    trial.launches ? `${trial.verdict} (${counted(trial.bytes, "byte")}, ${counted(trial.launches, "launch")})` : "-";
  return table<Row>(
    "What was tried",
    [
      { title: "kernel", text: (r) => r.kernel.name },
      { title: "candidate", text: (r) => r.trial.what, cell: (r) => candidate(r.trial.what), wide: true },
      { title: "forecast", text: (r) => range(r.trial.forecast), number: true },
      { title: "predicted", text: (r) => range(r.trial.predicted), number: true },
      { title: "achieved", text: (r) => range(r.trial.achieved), number: true },
      { title: "compared", text: verdict },
      { title: "outcome", text: (r) => r.trial.end },
      { title: "why", text: (r) => r.why, wide: true },
    ],
    rows,
  );
}

function allowed(sets: QualitySet[]): HTMLElement {
  return table<QualitySet>(
    "What its outputs allow",
    [
      { title: "set", text: (s) => s.candidates.join(" + "), cell: (s) => candidate(s.candidates.join(" + ")), wide: true },
      { title: "speed-up", text: (s) => ratio(s.speedup), number: true },
      { title: "quality", text: (s) => s.trained || "-" },
      { title: "held out", text: (s) => (s.heldOut ? `${ratio(s.heldOutSpeedup)}, ${s.heldOut}` : "-") },
      { title: "outcome", text: (s) => (s.why ? (s.best ? "of the best" : "") : "kept") },
      { title: "why not", text: (s) => s.why, wide: true },
    ],
    sets,
  );
}

function scatter(rows: Row[]): HTMLElement | null {
  const both = rows
    .filter(({ trial }) => trial.predicted[0] > 0 && trial.achieved[0] > 0)
    .map(({ kernel, trial }) => ({
      name: `${kernel.name}: ${trial.what}`,
      predicted: trial.predicted[0],
      low: trial.predicted[1] || trial.predicted[0],
      high: trial.predicted[2] || trial.predicted[0],
      achieved: trial.achieved[0],
    }));
  if (!both.length) return null;
  const ends = [Math.min(1, ...both.map((r) => Math.min(r.low, r.achieved))), Math.max(1, ...both.map((r) => Math.max(r.high, r.achieved)))];
  return figure("Predicted against achieved, x; on the line they agree", {
    height: 420,
    grid: true,
    x: { label: "achieved, x", domain: ends, tickFormat: ratio },
    y: { label: "predicted, x", domain: ends, tickFormat: ratio },
    marks: [
      Plot.line(ends.map((x) => ({ x, y: x })), { x: "x", y: "y", stroke: "currentColor", strokeOpacity: 0.4 }),
      Plot.ruleX(both, { x: "achieved", y1: "low", y2: "high", stroke: "var(--accent)" }),
      Plot.dot(both, { x: "achieved", y: "predicted", r: 4, fill: "var(--accent)", title: "name" }),
    ],
  });
}

export function optimize(data: Data): Node[] {
  const { decisions } = data;
  if (!decisions)
    return [
      nothing(
        "No decisions were given: ",
        h("code", {}, "reconverge report --decisions decisions.json"),
        " shows what reconverge optimize tried.",
      ),
    ];
  const rows = decisions.kernels.flatMap(rowsOf);
  const parts: (Node | null)[] = [
    h("p", {}, `Times and counts are of ${decisions.device || "no device"}. identical: every byte of device memory, in each launch tried, from the same state, as the original left it.`),
    kept(decisions.kernels),
    scatter(rows) ?? nothing(rows.length ? "Predictions and times are not known for the same candidate: times are taken on a GPU." : "Nothing was tried."),
    rows.length ? tried(rows) : null,
  ];
  const { quality, whole } = decisions;
  if (quality) {
    if (quality.sets.length) parts.push(allowed(quality.sets));
    parts.push(
      h("p", {}, `--quality ${quality.asked}: ${quality.verdict}.`),
      h("p", { class: "about" }, "speed-up: of all kernels together, where it is least of the inputs. quality: the worst over these. of the best: no other set is as fast and as good."),
    );
  }
  if (whole)
    parts.push(
      table(
        `The whole program, medians of ${count(whole.runs)} runs each`,
        [
          { title: "built by", text: (r) => r[0] },
          { title: "seconds", text: (r) => (r[1] > 0 ? r[1].toFixed(3) : "-"), number: true },
        ],
        [["reconverge, with what is kept", whole.final], ["reconverge, unmodified", whole.ours], ["nvcc", whole.nvcc], ["clang", whole.clang]] as [string, number][],
      ),
    );
  parts.push(...decisions.notes.map((note) => h("p", { class: "about" }, note)));
  return parts.filter((n): n is Node => n !== null);
}
