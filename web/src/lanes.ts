// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many lanes work, by issue slots: a kernel's, or all kernels'. Counts are
// sums over a block's executions, so a block has the mean of these.

import type { Data } from "./data";
import { figure, Plot } from "./charts";
import { count, h, nothing, percent, picker, table } from "./dom";

function slotsOf(data: Data, kernel: number): number[] {
  const sum: number[] = [];
  data.kernels.forEach((k, i) => {
    if (kernel < 0 || kernel === i) k.slotsByLanes.forEach((slots, lanes) => (sum[lanes] = (sum[lanes] ?? 0) + slots));
  });
  return sum;
}

export function lanes(data: Data): Node[] {
  if (!data.kernels.length) return [nothing(data.whyNoKernels)];
  const content = h("div");
  const choice = picker("Kernel", ["all kernels", ...data.kernels.map((k) => k.name)], (index) => {
    const slots = slotsOf(data, index - 1);
    const all = slots.reduce((a, b) => a + b, 0) || 1;
    const rows = slots.map((n, lanes) => ({ lanes, slots: n, share: n / all })).filter((r) => r.slots > 0);
    content.replaceChildren(
      figure("Issue slots by the mean number of lanes that work in their block", {
        height: 260,
        x: { label: "lanes that work", domain: slots.map((_, lanes) => lanes) },
        y: { label: "of the issue slots", percent: true, grid: true },
        marks: [Plot.barY(rows, { x: "lanes", y: "share", fill: "var(--accent)" }), Plot.ruleY([0])],
      }),
      table(
        "Issue slots by lanes that work",
        [
          { title: "lanes", text: (r) => String(r.lanes), number: true },
          { title: "issue slots", text: (r) => count(r.slots), number: true },
          { title: "of all", text: (r) => percent(r.share), number: true },
        ],
        rows,
      ),
    );
  });
  return [choice, content];
}
