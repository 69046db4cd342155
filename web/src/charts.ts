// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plots stand beside a table of the same numbers, so a screen reader is told
// their title alone.

import * as Plot from "@observablehq/plot";
import { h } from "./dom";

export { Plot };

export function figure(title: string, options: Plot.PlotOptions): HTMLElement {
  const plot = Plot.plot({ width: 900, marginLeft: 60, ...options, style: { background: "none", color: "inherit" } });
  for (const part of plot.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label"); // one image, one name
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", title);
  return h("figure", {}, h("figcaption", {}, title), plot);
}
