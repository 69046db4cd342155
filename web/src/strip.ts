// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes each way at a branch, as a strip of one part a side.

import type { Place } from "./data";
import { h } from "./dom";

const ways: Record<string, string[]> = { if: ["in", "past"], "loop exit": ["on", "out"] };

export function strip(place: Pick<Place, "kind" | "sides">): HTMLElement {
  const sum = place.sides.reduce((a, b) => a + b, 0);
  const words = place.sides.map((lanes, i) => {
    const name = ways[place.kind]?.[i] ?? `side ${i + 1}`;
    return `${name} ${sum ? ((100 * lanes) / sum).toFixed(0) : "0"}%`;
  });
  const parts = h("span", { class: "strip", "aria-hidden": "true" });
  place.sides.forEach((lanes, i) => {
    const part = h("span", { class: `side side${i % 4}` });
    part.style.flexGrow = String(sum ? lanes / sum : 0);
    parts.append(part);
  });
  return h("span", { class: "lanes" }, parts, h("span", {}, words.slice(0, 4).join(", ")));
}
