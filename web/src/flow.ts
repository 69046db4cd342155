// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's control-flow graph: a box a basic block, with how many warps came
// and how many of their lanes; at divergent branches the lanes that took each
// edge. Blocks that never ran are left out.

import { Graph, layout } from "@dagrejs/dagre";
import type { Block, Branch, Data, Kernel } from "./data";
import { count, h, nothing, percent, picker, table } from "./dom";

const mostBlocks = 250; // a larger picture is no use, and slow

function svg(tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

const working = (b: Block, warpSize: number) => (b.counts[0] ? b.counts[1] / (b.counts[0] * warpSize) : 0);

function where(kernel: Kernel, block: number, data: Data): string {
  const { file, line } = kernel.blocks[block];
  return file < 0 ? "" : `${data.files[file].short}:${line}`;
}

const cutStart = (text: string, most: number) => (text.length > most ? `...${text.slice(3 - most)}` : text);

function lanesOn(branch: Branch | undefined, to: number): string {
  if (!branch) return "";
  const sum = branch.lanesTo.reduce((a, b) => a + b, 0);
  const here = branch.lanesTo.reduce((n, lanes, side) => (branch.to[side] === to ? n + lanes : n), 0);
  return sum ? `${count(here)} lanes, ${percent(here / sum)}` : "";
}

function picture(kernel: Kernel, ran: number[], data: Data): HTMLElement {
  const graph = new Graph().setGraph({ rankdir: "TB", nodesep: 24, ranksep: 34 }).setDefaultEdgeLabel(() => ({}));
  const branches = new Map(kernel.branches.map((b) => [b.block, b]));
  const isIn = new Set(ran);
  for (const b of ran) graph.setNode(String(b), { width: 190, height: 44 });
  for (const b of ran)
    for (const to of kernel.blocks[b].next)
      if (isIn.has(to)) {
        const text = lanesOn(branches.get(b), to);
        graph.setEdge(String(b), String(to), { width: 6 * text.length, height: text ? 14 : 0, labelpos: "c", text });
      }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const image = svg("svg", {
    viewBox: `-8 -8 ${width + 16} ${height + 16}`,
    width: width + 16,
    role: "img",
    "aria-label": `Control flow of ${kernel.name}; the table below has the same`,
  });
  const tip = svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
  tip.append(svg("path", { d: "M0 0L8 4L0 8z", class: "tip" }));
  image.append(tip);
  for (const edge of graph.edges()) {
    const { points, text, x, y } = graph.edge(edge) as unknown as { points: { x: number; y: number }[]; text: string; x: number; y: number };
    image.append(svg("path", { d: `M${points.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L")}`, class: "edge", "marker-end": "url(#tip)" }));
    if (text) image.append(svg("text", { x, y, class: "mask", "text-anchor": "middle" }, text));
  }
  for (const b of ran) {
    const node = graph.node(String(b)) as unknown as { x: number; y: number; width: number; height: number };
    const lit = working(kernel.blocks[b], kernel.warpSize);
    const box = svg("g", { transform: `translate(${node.x - node.width / 2} ${node.y - node.height / 2})` });
    box.append(
      svg("rect", { width: node.width, height: node.height, rx: 4, class: "box" }),
      svg("rect", { width: node.width * lit, height: 4, y: node.height - 4, class: "lit" }),
      svg("text", { x: 8, y: 17 }, `${b}  ${cutStart(where(kernel, b, data), 20)}`),
      svg("text", { x: 8, y: 33, class: "small" }, `${count(kernel.blocks[b].counts[0])} warps, ${(lit * kernel.warpSize).toFixed(1)} lanes`),
    );
    image.append(box);
  }
  return h("figure", { class: "scrolls", tabindex: 0 }, h("figcaption", {}, `Control flow of ${kernel.name}`), image as unknown as HTMLElement);
}

function blocks(kernel: Kernel, ran: number[], data: Data): HTMLElement {
  const branches = new Map(kernel.branches.map((b) => [b.block, b]));
  return table<number>(
    "Basic blocks that ran",
    [
      { title: "block", text: (b) => String(b) },
      { title: "at", text: (b) => where(kernel, b, data) },
      { title: "instructions", text: (b) => String(kernel.blocks[b].instructions), number: true },
      { title: "warps", text: (b) => count(kernel.blocks[b].counts[0]), number: true },
      { title: "lanes that work", text: (b) => percent(working(kernel.blocks[b], kernel.warpSize)), number: true },
      { title: "of the kernel's slots", text: (b) => percent(kernel.slots ? kernel.blocks[b].slots / kernel.slots : 0), number: true },
      {
        title: "goes on to",
        text: (b) => kernel.blocks[b].next.map((to) => [String(to), lanesOn(branches.get(b), to)].filter(Boolean).join(": ")).join("; "),
      },
      { title: "parts by", text: (b) => branches.get(b)?.condition ?? "" },
    ],
    ran,
  );
}

export function flow(data: Data): Node[] {
  if (!data.kernels.length) return [nothing(data.whyNoKernels)];
  const content = h("div");
  const order = [...data.kernels.keys()].sort((a, b) => data.kernels[b].ofRun - data.kernels[a].ofRun);
  const choice = picker("Kernel", order.map((k) => data.kernels[k].name), (index) => {
    const kernel = data.kernels[order[index]];
    const ran = [...kernel.blocks.keys()].filter((b) => kernel.blocks[b].counts[0] > 0);
    const known = kernel.blocks.some((b) => b.next.length);
    const image =
      kernel.blocks.length > 1 && !known
        ? nothing("The profile is of a version that did not keep which block leads to which.")
        : ran.length > mostBlocks
          ? nothing(`${ran.length} blocks ran, too many for a picture.`)
          : picture(kernel, ran, data);
    content.replaceChildren(image, blocks(kernel, ran, data));
  });
  return [choice, content];
}
