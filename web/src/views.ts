// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The views of the page as tabs (WAI-ARIA's pattern): arrow keys move between
// them, and the address says which one is shown, so that it can be linked to.
// A view is made when it is first shown.

import { h } from "./dom";

export interface View {
  id: string;
  title: string;
  make: () => Node[];
  /** Shows a part of the view: what stands behind its name in the address. */
  show?: (part: string) => void;
}

let all: View[] = [];
const tabs = new Map<string, HTMLElement>();
const panels = new Map<string, HTMLElement>();

function select(id: string, part = ""): void {
  const view = all.find((v) => v.id === id) ?? all[0];
  for (const { id: other } of all) {
    const isIt = other === view.id;
    tabs.get(other)!.setAttribute("aria-selected", String(isIt));
    tabs.get(other)!.tabIndex = isIt ? 0 : -1;
    panels.get(other)!.hidden = !isIt;
  }
  const panel = panels.get(view.id)!;
  if (panel.childElementCount === 1) panel.append(...view.make());
  if (part) view.show?.(part);
}

/** The view and the part that the address names. */
function follow(): void {
  const [, id = "", part = ""] = /^#([a-z]+)-?(.*)$/.exec(location.hash) ?? [];
  select(id, part);
}

export function goTo(id: string, part = ""): void {
  const address = part ? `#${id}-${part}` : `#${id}`;
  if (location.hash === address) select(id, part);
  else location.hash = address; // and follow() does the rest
}

export function mountViews(views: View[]): HTMLElement[] {
  all = views;
  const list = h("div", { role: "tablist", "aria-label": "Views" });
  for (const view of views) {
    const tab = h(
      "button",
      { role: "tab", id: `tab-${view.id}`, type: "button", "aria-controls": `panel-${view.id}`, onclick: () => goTo(view.id) },
      view.title,
    );
    const panel = h(
      "div",
      { role: "tabpanel", id: `panel-${view.id}`, "aria-labelledby": `tab-${view.id}` },
      h("h2", {}, view.title),
    );
    tabs.set(view.id, tab);
    panels.set(view.id, panel);
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => {
    const at = views.findIndex((v) => tabs.get(v.id) === document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: views.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const { id } = views[(to + views.length) % views.length];
    tabs.get(id)!.focus();
    goTo(id);
  });
  addEventListener("hashchange", follow);
  queueMicrotask(follow);
  return [list, ...panels.values()];
}
