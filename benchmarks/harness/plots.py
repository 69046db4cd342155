# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bar charts as SVG, readable on a light and on a dark page; the same numbers
give the same bytes."""

import math
from html import escape

# Tell apart without colour vision, on white and on black (Okabe and Ito, 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
STYLE = ("text{font:11px sans-serif;fill:#333}.title{font-size:13px}"
         "line{stroke:#8884}.zero{stroke:#888}"
         "@media(prefers-color-scheme:dark){text{fill:#ddd}}"
         ".cut{fill:#fff;font-size:9px}")
LEFT, TOP, HEIGHT, BAR, GAP = 44, 44, 180, 9, 10
CHAR = 6.2  # of the font, in px


def step_of(span):
    """1, 2 or 5 times a power of ten; some five of them make up the span."""
    power = 10 ** math.floor(math.log10(span / 5))
    return min((power * factor for factor in (1, 2, 5, 10)),
               key=lambda step: abs(span / step - 5))


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def bars(title, series, groups, unit, low=None):
    """A chart of bars side by side. series: names; groups: (label, values), a
    value a series, None for no bar; low: bars below it are cut there and marked
    with their value."""
    values = [v for _, of in groups for v in of if v is not None]
    least = min(0, *values)
    least = max(least, low) if low is not None else least
    most = max(0, *values)
    step = step_of((most - least) or 1)
    least, most = (step * math.floor(least / step),
                   step * math.ceil(most / step))

    def y(value):
        return TOP + HEIGHT * (most - value) / (most - least)

    wide = len(series) * BAR + GAP
    legend = LEFT + sum(27 + len(name) * CHAR for name in series)
    width = round(max(LEFT + wide * len(groups) + GAP, legend, 360))
    label = max(len(name) for name, _ in groups) * CHAR * 0.75 + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" '
           f'viewBox="0 0 {width} {TOP + HEIGHT + label:.0f}" role="img" '
           f'width="{width}">', f"<title>{escape(title)}</title>",
           f"<style>{STYLE}</style>",
           f'<text class="title" x="4" y="16">{escape(title)}</text>']
    at = LEFT
    for colour, name in zip(COLOURS, series):
        out.append(f'<rect x="{at:.0f}" y="24" width="9" height="9" '
                   f'fill="{colour}"/><text x="{at + 13:.0f}" y="33">'
                   f"{escape(name)}</text>")
        at += 13 + len(name) * CHAR + 14
    for i in range(round((most - least) / step) + 1):
        value = least + i * step
        out.append(f'<line x1="{LEFT}" x2="{width}" y1="{y(value):.1f}" '
                   f'y2="{y(value):.1f}"'
                   + (' class="zero"' if abs(value) < step / 2 else "")
                   + f'/><text x="{LEFT - 5}" y="{y(value) + 4:.1f}" '
                   f'text-anchor="end">{number(value)}{unit}</text>')
    for g, (name, of) in enumerate(groups):
        x = LEFT + GAP / 2 + g * wide
        for s, value in enumerate(of):
            if value is None:
                continue
            shown = max(value, least)
            top, end = y(max(shown, 0)), y(min(shown, 0))
            out.append(
                f'<rect x="{x + s * BAR:.1f}" y="{top:.1f}" width="{BAR - 1}" '
                f'height="{max(end - top, .5):.1f}" fill="{COLOURS[s]}">'
                f"<title>{escape(name)}, {escape(series[s])}: "
                f"{number(value)}{unit}</title></rect>")
            if shown != value:
                out.append(f'<text class="cut" x="{x + s * BAR + 8:.1f}" '
                           f'y="{end - 3:.1f}" transform="rotate(-90 '
                           f'{x + s * BAR + 8:.1f} {end - 3:.1f})">'
                           f"{number(value)}</text>")
        middle, foot = x + len(series) * BAR / 2, TOP + HEIGHT + 14
        out.append(f'<text x="{middle:.1f}" y="{foot}" text-anchor="end" '
                   f'transform="rotate(-45 {middle:.1f} {foot})">'
                   f"{escape(name)}</text>")
    return "\n".join([*out, "</svg>"]) + "\n"
