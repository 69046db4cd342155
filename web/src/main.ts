// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import "./style.css";
import { readData, type Data } from "./data";
import { h } from "./dom";
import { flow } from "./flow";
import { lanes } from "./lanes";
import { launches } from "./launches";
import { optimize } from "./optimize";
import { overview } from "./overview";
import { showLine, source } from "./source";
import { mountViews } from "./views";
import { warps } from "./warps";

/** Light, dark, or as the system has it: the button goes on to the next. */
function themeButton(): HTMLElement {
  const modes = ["system", "light", "dark"];
  let mode = 0;
  const button = h("button", {
    type: "button",
    class: "theme",
    onclick: () => {
      mode = (mode + 1) % modes.length;
      apply();
    },
  });
  const apply = () => {
    document.documentElement.dataset.theme = modes[mode];
    button.textContent = `Colours: ${modes[mode]}`;
  };
  apply();
  return button;
}

function page(data: Data): Node[] {
  const title = `Divergence of ${[data.program, ...data.arguments].join(" ")}`;
  document.title = title;
  const [tabs, ...panels] = mountViews([
    { id: "overview", title: "Overview", make: () => overview(data) },
    { id: "source", title: "Source", make: () => source(data), show: showLine },
    { id: "lanes", title: "Lanes", make: () => lanes(data) },
    { id: "flow", title: "Control flow", make: () => flow(data) },
    { id: "warps", title: "Warps", make: () => warps(data) },
    { id: "launches", title: "Launches", make: () => launches(data) },
    { id: "optimize", title: "Before and after", make: () => optimize(data) },
  ]);
  const main = h("main", { id: "main", tabindex: -1 }, ...panels);
  const skip = h(
    "a",
    {
      class: "skip",
      href: "#main",
      onclick: (event: Event) => {
        event.preventDefault(); // the address names the view
        main.focus();
      },
    },
    "Skip to the view",
  );
  return [h("header", {}, skip, h("h1", {}, title), themeButton()), h("nav", {}, tabs), main];
}

const root = document.getElementById("page")!;
try {
  root.append(...page(readData()));
} catch (error) {
  root.append(h("p", { role: "alert", class: "alarm" }, error instanceof Error ? error.message : String(error)));
}
