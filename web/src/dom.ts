// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements and numbers. Texts become text nodes: nothing here reads markup.

export type Child = Node | string | number | null | undefined | false;
type Properties = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** An element; `on...` properties are listeners, all others attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (typeof value === "function")
      element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  return element;
}

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  /** What stands in the cell in place of its text. */
  cell?: (row: Row) => Node;
  number?: boolean;
  /** Holds sentences, or names of any length: not to be narrow. */
  wide?: boolean;
}

function kindOf<Row>(c: Column<Row>): string | undefined {
  return c.number ? "number" : c.wide ? "wide" : undefined;
}

/**
 * A table with a caption and a head, whose first column names the row. What
 * `below` makes of a row stands under it, over all columns.
 */
export function table<Row>(
  caption: string,
  columns: Column<Row>[],
  rows: Row[],
  below: (row: Row) => Node | null = () => null,
): HTMLElement {
  const head = h("tr");
  for (const c of columns)
    head.append(h("th", { scope: "col", class: kindOf(c) }, c.title));
  const body = h("tbody");
  for (const row of rows) {
    const line = h("tr");
    columns.forEach((c, i) => {
      const content = c.cell ? c.cell(row) : c.text(row);
      const properties = { class: kindOf(c) };
      line.append(i === 0 ? h("th", { scope: "row", ...properties }, content) : h("td", properties, content));
    });
    body.append(line);
    const more = below(row);
    if (more) body.append(h("tr", { class: "below" }, h("td", { colspan: columns.length }, more)));
  }
  const content = h("table", {}, h("caption", {}, caption), h("thead", {}, head), body);
  return h("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": caption }, content);
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

export function ratio(x: number): string {
  return x > 0 ? `${x.toFixed(2)}x` : "-";
}

/** 731, 12.3k, 4.56M, as on the terminal. */
export function count(n: number): string {
  if (n < 1000) return String(Math.round(n));
  let unit = 0;
  while (n >= 999.5 && unit < 6) {
    n /= 1000;
    ++unit;
  }
  return n.toFixed(n < 9.995 ? 2 : n < 99.95 ? 1 : 0) + ["", "k", "M", "G", "T", "P", "E"][unit];
}

export function seconds(s: number): string {
  const [x, unit] = s >= 1 ? [s, "s"] : s >= 1e-3 ? [1e3 * s, "ms"] : [1e6 * s, "us"];
  return `${x.toFixed(x < 9.995 ? 2 : x < 99.95 ? 1 : 0)} ${unit}`;
}

export function counted(n: number, noun: string): string {
  if (n === 1) return `1 ${noun}`;
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : /(ch|s)$/.test(noun) ? `${noun}es` : `${noun}s`;
  return `${count(n)} ${plural}`;
}

/** How hot a share of the run is, for the style. */
export function heat(share: number): string {
  return share >= 0.1 ? "grave" : share >= 0.03 ? "notable" : share > 0 ? "slight" : "none";
}

/** A bar of `share` of its width; its number stands beside it, as text. */
export function bar(share: number, kind = heat(share)): HTMLElement {
  const inner = h("span", { class: `fill ${kind}` });
  inner.style.width = `${Math.min(100, Math.max(0, 100 * share))}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

/** A share and its bar. */
export function measured(share: number, kind?: string): HTMLElement {
  return h("span", { class: "measured" }, bar(share, kind), h("span", {}, percent(share)));
}

/** A choice of one of `names`; calls `choose` now and at each change. */
export function picker(label: string, names: string[], choose: (index: number) => void): HTMLElement {
  const select = h("select", { onchange: () => choose(select.selectedIndex) });
  for (const name of names) select.append(h("option", {}, name));
  choose(0);
  return h("label", { class: "picker" }, `${label} `, select);
}

/** What a view says that has nothing to show. */
export function nothing(...text: Child[]): HTMLElement {
  return h("p", { class: "nothing" }, ...text);
}
