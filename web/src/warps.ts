// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block vectors as a picture: a row a warp, a column a basic block; how dark a
// cell is says how many lanes idle there while the busiest one runs it. A
// picture of more warps than it has lines shows the mean of those that share
// one, so it takes as long to draw for 100,000 warps as for 500.

import { readVectors, type Data, type Kernel, type Vectors } from "./data";
import { count, counted, h, nothing, percent, picker, table } from "./dom";

export interface WarpVectors {
  warps: number;
  blocks: number[]; // columns: positions in Kernel.blocks
  most: Float64Array; // warps x blocks: executions of the busiest lane
  sum: Float64Array; // of all lanes
  threadBlock: Float64Array; // of each warp
  warpSize: number;
}

/** Of each warp and block the most executions of a lane, and their sum. */
export function warpsOf(vectors: Vectors, kernel: Kernel): WarpVectors {
  const { warpSize } = kernel;
  const blocks = [...kernel.blocks.keys()].filter((b) => vectors.classes.some((c) => c[b] > 0));
  const threads = (runs: number[]) => runs.reduce((n, x, i) => (i % 2 ? n + x : n), 0);
  const warps = vectors.threadBlocks.reduce((n, b) => n + Math.ceil(threads(b.runs) / warpSize), 0);
  const most = new Float64Array(warps * blocks.length);
  const sum = new Float64Array(warps * blocks.length);
  const threadBlock = new Float64Array(warps);
  let warp = 0;
  for (const { number, runs } of vectors.threadBlocks) {
    let lane = 0;
    for (let r = 0; r < runs.length; r += 2) {
      const counts = vectors.classes[runs[r]];
      for (let left = runs[r + 1]; left > 0; ) {
        const here = Math.min(left, warpSize - lane);
        threadBlock[warp] = number;
        blocks.forEach((b, column) => {
          const at = warp * blocks.length + column;
          most[at] = Math.max(most[at], counts[b]);
          sum[at] += counts[b] * here;
        });
        left -= here;
        lane += here;
        if (lane === warpSize) {
          lane = 0;
          ++warp;
        }
      }
    }
    if (lane) ++warp; // a last warp that is not full
  }
  return { warps, blocks, most, sum, threadBlock, warpSize };
}

const idle = (v: WarpVectors, at: number) => (v.most[at] > 0 ? 1 - v.sum[at] / (v.most[at] * v.warpSize) : 0);

/** Idle shares of `lines` rows that stand for all warps. */
export function binned(v: WarpVectors, lines: number): Float64Array {
  const columns = v.blocks.length;
  const rows = Math.min(lines, v.warps);
  const out = new Float64Array(rows * columns);
  for (let row = 0; row < rows; ++row) {
    const from = Math.floor((row * v.warps) / rows);
    const to = Math.max(from + 1, Math.floor(((row + 1) * v.warps) / rows));
    for (let column = 0; column < columns; ++column) {
      let sum = 0;
      for (let warp = from; warp < to; ++warp) sum += idle(v, warp * columns + column);
      out[row * columns + column] = sum / (to - from);
    }
  }
  return out;
}

function place(kernel: Kernel, block: number, data: Data): string {
  const { file, line } = kernel.blocks[block];
  return file < 0 ? `block ${block}` : `${data.files[file].short}:${line}`;
}

function picture(v: WarpVectors, kernel: Kernel, data: Data): HTMLElement {
  const columns = v.blocks.length;
  const shares = binned(v, 480);
  const rows = columns ? shares.length / columns : 0;
  const fit = (room: number, cells: number, least: number, most: number) =>
    Math.min(most, Math.max(least, Math.floor(room / Math.max(1, cells))));
  const [wide, high] = [fit(900, columns, 4, 60), fit(480, rows, 1, 24)];
  const canvas = h("canvas", {
    width: columns * wide,
    height: rows * high,
    tabindex: 0,
    role: "img",
    "aria-label": `Heat map of ${counted(v.warps, "warp")} by ${counted(columns, "basic block")}; the table below has the sums`,
  });
  const context = canvas.getContext("2d")!;
  // The page's ground shines through where lanes work, light or dark.
  for (let at = 0; at < shares.length; ++at) {
    context.fillStyle = `hsl(14 85% 48% / ${shares[at]})`;
    context.fillRect((at % columns) * wide, Math.floor(at / columns) * high, wide, high);
  }
  const clean = shares.length ? context.getImageData(0, 0, canvas.width, canvas.height) : null;
  const said = h("p", { "aria-live": "polite", class: "about" }, "Point at a cell, or move with the arrow keys.");
  let [x, y] = [0, 0];
  const say = () => {
    if (!clean) return;
    context.putImageData(clean, 0, 0);
    context.strokeStyle = getComputedStyle(canvas).color;
    context.lineWidth = 2;
    context.strokeRect(x * wide - 1, y * high - 1, wide + 2, high + 2);
    const warp = Math.floor((y * v.warps) / rows);
    const at = warp * columns + x;
    said.textContent =
      `warp ${warp} (thread block ${v.threadBlock[warp]}), ${place(kernel, v.blocks[x], data)}: ` +
      `${count(v.most[at])} executions, ${percent(1 - idle(v, at))} of the lanes work`;
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    x = Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)));
    y = Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * rows)));
    say();
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    x = Math.min(columns - 1, Math.max(0, x + step[0]));
    y = Math.min(rows - 1, Math.max(0, y + step[1]));
    say();
  });
  return h("figure", {}, h("figcaption", {}, "Lanes that idle, by warp (down) and basic block (across): the stronger the colour, the more"), canvas, said);
}

export function warps(data: Data): Node[] {
  const kernels = [...data.kernels.keys()].filter((k) => data.kernels[k].hasVectors);
  if (!kernels.length)
    return [nothing("The profile has no block vectors: ", h("code", {}, "reconverge profile --raw"), " keeps those of a sample.")];
  const all = readVectors();
  const content = h("div");
  const choice = picker("Kernel", kernels.map((k) => data.kernels[k].name), (index) => {
    const kernel = data.kernels[kernels[index]];
    const vectors = all[kernels[index]];
    const v = warpsOf(vectors, kernel);
    const rows = v.blocks.map((block, column) => {
      let [most, sum] = [0, 0];
      for (let warp = 0; warp < v.warps; ++warp) {
        most += v.most[warp * v.blocks.length + column];
        sum += v.sum[warp * v.blocks.length + column];
      }
      return { block, most, lanes: most ? sum / (most * v.warpSize) : 0 };
    });
    content.replaceChildren(
      h("p", {}, `${counted(v.warps, "warp")} of ${counted(vectors.threadBlocks.length, "thread block")} of launch ${vectors.launch}; ` +
        `${counted(vectors.classes.length, "class")} of threads that did the same.`),
      picture(v, kernel, data),
      table(
        "Basic blocks over these warps",
        [
          { title: "block", text: (r) => `${r.block}` },
          { title: "at", text: (r) => place(kernel, r.block, data) },
          { title: "executions of the busiest lanes", text: (r) => count(r.most), number: true },
          { title: "lanes that work", text: (r) => percent(r.lanes), number: true },
        ],
        rows,
      ),
    );
  });
  return [choice, content];
}
