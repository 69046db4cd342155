// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launches in the order in which they ran, a row a kernel: the profile's
// trace has no times. Launches of one kernel, shape and stream that follow each
// other are one bar.

import type { Data, Shape, Trace } from "./data";
import { figure, Plot } from "./charts";
import { count, counted, h, nothing, table } from "./dom";

interface Run {
  from: number; // from 1
  to: number; // the next one's
  kernel: string;
  shape: Shape;
  stream: number;
}

export function runsOf(trace: Trace): Run[] {
  const runs: Run[] = [];
  for (let i = 0; i + 2 < trace.launches.length; i += 3) {
    const [kernel, shape, stream] = trace.launches.slice(i, i + 3);
    const last = runs.at(-1);
    const number = i / 3 + 1;
    if (last && last.kernel === trace.kernels[kernel] && last.shape === trace.shapes[shape] && last.stream === stream)
      last.to = number + 1;
    else runs.push({ from: number, to: number + 1, kernel: trace.kernels[kernel], shape: trace.shapes[shape], stream });
  }
  return runs;
}

const sizes = (n: [number, number, number]) => n.join(" x ");

export function launches(data: Data): Node[] {
  const { trace } = data;
  if (!trace)
    return [nothing("The profile has no trace of launches: ", h("code", {}, "reconverge profile --raw"), " keeps it.")];
  const runs = runsOf(trace);
  const total = trace.launches.length / 3;
  const byKernel = [...new Set(runs.map((r) => r.kernel))];
  return [
    h("p", {}, `${counted(total, "launch")}${trace.more ? `, and ${count(trace.more)} after these` : ""}; from left to right in their order.`),
    figure("Launches in their order", {
      height: 60 + 26 * byKernel.length,
      marginLeft: 180,
      x: { label: "launch", domain: [1, total + 1] },
      y: { label: null, domain: byKernel },
      color: { legend: new Set(runs.map((r) => r.stream)).size > 1, type: "categorical", label: "stream" },
      marks: [Plot.barX(runs, { x1: "from", x2: "to", y: "kernel", fill: "stream", insetTop: 2, insetBottom: 2 })],
    }),
    table(
      `Launches, one row for those alike that follow each other${runs.length > 500 ? " (the first 500 rows)" : ""}`,
      [
        { title: "launches", text: (r) => (r.to - r.from > 1 ? `${r.from} to ${r.to - 1}` : String(r.from)) },
        { title: "kernel", text: (r) => r.kernel },
        { title: "grid", text: (r) => sizes(r.shape.grid), number: true },
        { title: "block", text: (r) => sizes(r.shape.block), number: true },
        { title: "dynamic shared memory", text: (r) => count(r.shape.dynamicShared), number: true },
        { title: "stream", text: (r) => String(r.stream), number: true },
      ],
      runs.slice(0, 500),
    ),
  ];
}
