// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What to do first, then each branch and each kernel: the terminal's report.

import type { Data, Place } from "./data";
import { counted, count, h, measured, percent, ratio, seconds, table } from "./dom";
import { strip } from "./strip";
import { goTo } from "./views";

/** The text as a link to that line, if its source is here. */
function lineLink(text: string, file: number, line: number): Node {
  if (file < 0 || !line) return h("span", { class: "code" }, text);
  return h(
    "a",
    {
      class: "code",
      href: `#source-${file}-${line}`,
      onclick: (event: Event) => {
        event.preventDefault();
        goTo("source", `${file}-${line}`);
      },
    },
    text,
  );
}

function placeLink(place: Place): Node {
  const text = `${place.at}  ${place.what}`;
  return lineLink(place.copies > 1 ? `${text} (${counted(place.copies, "copy")})` : text, place.file, place.line);
}

function first(data: Data): HTMLElement {
  const box = h("section", { class: "first", "aria-labelledby": "first" }, h("h3", { id: "first" }, "What to do first"));
  for (const text of data.refused) box.append(h("p", { class: "alarm" }, `Not run: ${text}`));
  if (!data.kernels.length) {
    box.append(h("p", {}, data.whyNoKernels));
    return box;
  }
  const dearest = data.places[0];
  if (data.next && !data.next.command) {
    box.append(h("p", {}, `${data.next.words}.`));
    return box;
  }
  if (!dearest) return box;
  box.append(h("p", {}, placeLink(dearest), ` loses ${percent(dearest.self)} of the run. What may help:`));
  box.append(h("ul", {}, ...dearest.advice.map((line) => h("li", {}, line))));
  if (data.next) box.append(h("p", {}, `${data.next.words}:`), h("pre", { tabindex: 0 }, data.next.command));
  return box;
}

function places(data: Data): HTMLElement {
  if (!data.places.length) return h("p", {}, "No branch costs 0.1% of the run.");
  const regrouped = (p: Place, i: number) => (p.regrouped ? percent(p.regrouped[i]) : "-");
  return table<Place>(
    `Where lanes part, dearest first (${counted(data.places.length, "place")}${data.slightPlaces ? `, ${count(data.slightPlaces)} below 0.1%` : ""})`,
    [
      {
        title: "branch",
        text: (p) => p.at,
        cell: (p) => {
          const cell = h("span", { class: "place" }, placeLink(p));
          cell.style.paddingLeft = `${p.depth}em`;
          return cell;
        },
      },
      { title: "self", text: (p) => percent(p.self), cell: (p) => measured(p.self), number: true },
      { title: "total", text: (p) => percent(p.total), number: true },
      { title: "in warp", text: (p) => regrouped(p, 0), number: true },
      { title: "block", text: (p) => regrouped(p, 1), number: true },
      { title: "grid", text: (p) => regrouped(p, 2), number: true },
      { title: "warps", text: (p) => count(p.warps), number: true },
      { title: "split", text: (p) => percent(p.split), number: true },
      { title: "lanes each way", text: (p) => p.sides.map(count).join(" / "), cell: (p) => strip(p) },
      { title: "kernel", text: (p) => p.kernels.map((k) => data.kernels[k].name).join(", "), wide: true },
    ],
    data.places,
    (p) => {
      if (!p.advice.length) return null;
      const list = h("ul", { "aria-label": `What may help at ${p.at}` }, ...p.advice.map((line) => h("li", {}, line)));
      list.style.marginLeft = `${p.depth}em`;
      return list;
    },
  );
}

function kernels(data: Data): HTMLElement {
  const rows = [...data.ranking, ...data.kernels.keys()].filter((k, i, all) => all.indexOf(k) === i);
  return table<number>(
    "Kernels, dearest first",
    [
      {
        title: "kernel",
        text: (k) => data.kernels[k].name,
        cell: (k) => h("span", {}, h("span", { class: "code", title: data.kernels[k].full }, data.kernels[k].name), data.kernels[k].fine && h("span", { class: "about" }, " (fine)")),
      },
      { title: "launches", text: (k) => count(data.kernels[k].launches), number: true },
      { title: "threads", text: (k) => count(data.kernels[k].threads), number: true },
      { title: data.timesAreOfCpu ? "CPU time" : "time", text: (k) => seconds(data.kernels[k].seconds), number: true },
      { title: "of run", text: (k) => percent(data.kernels[k].ofRun), cell: (k) => measured(data.kernels[k].ofRun, "plain"), number: true },
      { title: "CFE", text: (k) => percent(data.kernels[k].cfe), cell: (k) => measured(data.kernels[k].cfe, "plain"), number: true },
      { title: "potential", text: (k) => ratio(data.kernels[k].potential), number: true },
      { title: "attainable", text: (k) => ratio(data.kernels[k].attainable), number: true },
      { title: "bound by", text: (k) => data.kernels[k].boundBy || "-" },
      { title: "divergent warps", text: (k) => percent(data.kernels[k].divergent), number: true },
    ],
    rows,
    (k) => (data.kernels[k].whyIdle && !data.kernels[k].fine ? h("p", {}, data.kernels[k].whyIdle) : null),
  );
}

function accesses(data: Data): HTMLElement | null {
  if (!data.accesses.length) return null;
  return table(
    "Requests to memory that take more than they must",
    [
      { title: "access", text: (a) => a.at, cell: (a) => lineLink(`${a.at}  ${a.what}`, a.file, a.line) },
      { title: "which", text: (a) => a.which, wide: true },
      { title: "of the kernel's", text: (a) => percent(a.ofKernel), number: true },
      { title: "requests", text: (a) => count(a.requests), number: true },
      { title: "kernel", text: (a) => data.kernels[a.kernel].name },
    ],
    data.accesses,
  );
}

export function overview(data: Data): Node[] {
  const any = data.kernels.length > 0;
  const notes = h("ul", { class: "notes" }, ...data.notes.map((note) => h("li", {}, note)));
  if (data.exitStatus) notes.prepend(h("li", {}, `The program ended with status ${data.exitStatus}.`));
  const about = h(
    "p",
    { class: "about" },
    `Shares are of ${data.sharesAreOfTime ? "time, by the model" : "issue slots"}. `,
    data.countedOn ? `Counted on ${data.countedOn}. ` : "",
    "self: lost where lanes part at this branch; total: with the branches inside; in warp, block, grid: what " +
      "regrouping gives back, before its price. CFE: of the lanes that could, those that work; potential: 1 / CFE; " +
      `attainable: of that, in time. (fine): ${percent(0.95)} of its lanes work or more, and no branch costs ${percent(0.01)}.`,
  );
  return [first(data), any && places(data), any && kernels(data), accesses(data), any && about, notes].filter((n): n is HTMLElement => n instanceof HTMLElement);
}
