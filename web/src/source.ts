// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source with what its lines cost: heat in the margin, how many lanes work,
// and at each branch a button that opens its lanes and its remedies.

import type { Data, Line, Place, SourceFile } from "./data";
import { bar, count, counted, h, heat, nothing, percent, picker } from "./dom";
import { strip } from "./strip";

const mostLines = 20000;

let choose: (file: number) => void = () => {};
let fileSelect: HTMLSelectElement | null = null;

/** `part` is "<file>-<line>". */
export function showLine(part: string): void {
  const [file, line] = part.split("-").map(Number);
  if (fileSelect && Number.isInteger(file)) {
    fileSelect.selectedIndex = file;
    choose(file);
  }
  const row = document.getElementById(`line-${line}`);
  document.querySelector("tr.sought")?.classList.remove("sought");
  row?.classList.add("sought");
  row?.scrollIntoView({ block: "center" });
  // Opened, and not closed if it is open.
  row?.querySelector<HTMLElement>("button[aria-expanded=false]")?.click();
}

function details(place: Place, data: Data): HTMLElement {
  const calls = place.inlinedInMany
    ? ", inlined at several places"
    : place.inlinedAt.length
      ? `, inlined at ${place.inlinedAt.join(", at ")}`
      : "";
  const price = (gain: number, cost: number) =>
    cost > 0 ? `, of which ${percent(cost)} is its price` : gain > 0 ? "" : ", nothing";
  return h(
    "div",
    { class: "details" },
    h("p", {}, h("strong", {}, place.what), place.copies > 1 ? ` (${counted(place.copies, "copy")})` : ""),
    h(
      "p",
      {},
      `self ${percent(place.self)}, total ${percent(place.total)} of the run; in `,
      place.kernels.map((k) => data.kernels[k].name).join(", "),
      calls,
      `; ${percent(place.split)} of ${counted(place.warps, "warp")} split`,
    ),
    h("p", {}, strip(place)),
    place.advice.length ? h("ul", {}, ...place.advice.map((line) => h("li", {}, line))) : h("p", {}, "Too cheap to be worth a remedy."),
    place.remedies.length
      ? h("p", { class: "about" }, `By the model: ${place.remedies.map((r) => `${r.name} at most ${percent(r.gain)}${price(r.gain, r.price)}`).join("; ")}.`)
      : null,
  );
}

function row(number: number, text: string, cost: Line | undefined, places: Place[], data: Data): HTMLElement[] {
  const self = places.reduce((sum, p) => sum + p.self, 0);
  const opened = h("tr", { class: "opened", hidden: true }, h("td", { colspan: 5 }, ...places.map((p) => details(p, data))));
  const button =
    places.length > 0 &&
    h(
      "button",
      {
        type: "button",
        class: `self ${heat(self)}`,
        "aria-expanded": "false",
        "aria-label": `Line ${number}: ${percent(self)} lost here; what may help`,
        onclick: () => {
          opened.hidden = !opened.hidden;
          button && button.setAttribute("aria-expanded", String(!opened.hidden));
        },
      },
      percent(self),
    );
  const ran = cost !== undefined && cost.lanes > 0;
  const line = h(
    "tr",
    { id: `line-${number}`, class: heat(self) },
    h("td", { class: "number" }, button),
    h("td", { class: "number" }, ran && cost.ofRun >= 0.0005 && percent(cost.ofRun)),
    h("td", { class: "lanes" }, ran && bar(cost.lanes, "lit"), ran && percent(cost.lanes)),
    h("th", { scope: "row", class: "number" }, number),
    h("td", { class: "code" }, text),
  );
  return places.length ? [line, opened] : [line];
}

function listing(file: SourceFile, number: number, data: Data): HTMLElement {
  if (file.text === undefined) return nothing(`${file.name} could not be read when the page was made.`);
  const lines = file.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const cost = new Map(file.lines.map((line) => [line.line, line]));
  const places = new Map<number, Place[]>();
  for (const place of data.places)
    if (place.file === number) places.set(place.line, [...(places.get(place.line) ?? []), place]);
  const body = h("tbody");
  lines.slice(0, mostLines).forEach((text, i) => {
    body.append(...row(i + 1, text, cost.get(i + 1), places.get(i + 1) ?? [], data));
  });
  const head = h("tr", {});
  for (const title of ["self", "slots", "lanes that work", "line", "source"]) head.append(h("th", { scope: "col" }, title));
  const box = h("div", { class: "scrolls source", tabindex: 0, role: "region", "aria-label": `Source of ${file.short}` });
  if (file.newer) box.append(h("p", { class: "alarm" }, "The file has been changed since the program was profiled: lines may have moved."));
  box.append(h("table", {}, h("caption", {}, file.name), h("thead", {}, head), body));
  if (lines.length > mostLines) box.append(h("p", {}, `and ${count(lines.length - mostLines)} more lines`));
  return box;
}

export function source(data: Data): Node[] {
  if (!data.files.length) return [nothing("The profile names no source that costs anything.")];
  // The dearest file first, as most people want that one.
  const cost = (f: number) => data.places.filter((p) => p.file === f).reduce((sum, p) => sum + p.self, 0);
  const content = h("div");
  let shown = -1;
  choose = (file) => {
    if (file === shown) return;
    shown = file;
    content.replaceChildren(listing(data.files[file], file, data));
    // The dearest line is what one comes for.
    const top = data.places.find((p) => p.file === file);
    requestAnimationFrame(() => {
      const [box, line] = [content.querySelector(".source"), document.getElementById(`line-${top?.line}`)];
      if (box && line) box.scrollTop = line.offsetTop - box.clientHeight / 3;
    });
  };
  const choice = picker("File", data.files.map((f, i) => `${f.short} (${percent(cost(i))})`), () => {});
  fileSelect = choice.querySelector("select")!;
  fileSelect.addEventListener("change", () => choose(fileSelect!.selectedIndex));
  const dearest = [...data.files.keys()].sort((a, b) => cost(b) - cost(a))[0];
  fileSelect.selectedIndex = dearest;
  choose(dearest);
  const about = h(
    "p",
    { class: "about" },
    "self: lost where lanes part at this line, of the run; slots: of the run's issue slots, those of code that begins " +
      "here and of what it calls in other files; lanes that work: of those that could, there. A figure in the first " +
      "column is a button that opens the branch.",
  );
  return [choice, about, content];
}
