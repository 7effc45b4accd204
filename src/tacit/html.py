"""Small pieces of HTML with which objects draw themselves in a notebook (`_repr_html_`).

Every piece stands alone: styles are inline, pictures are inline SVG, nothing is fetched and no script runs. Text takes the
notebook's own colour and lines are half transparent, so both light and dark pages stay readable. Text from outside (names of
games, actions, agents) is escaped here, and long lists are cut here or by the caller, so drawing is always fast.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

MAX_POINTS = 200
"""The most points drawn of a curve; a longer one keeps its first, its last and every n-th point."""
MAX_TEXT = 120
"""The most characters shown of a text; the rest is cut."""
_LINE = "rgba(128,128,128,.35)"
_FAINT = "rgba(128,128,128,.14)"
_FONT = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45"
_ACCENT = "#4a87c9"


def safe_text(content: Any) -> str:
    """Returns any content as text that is safe inside HTML, cut if it is long."""
    words = " ".join(str(content).split())
    return escape(words if len(words) <= MAX_TEXT else words[: MAX_TEXT - 1] + "…")


def short_number(value: float | None, digits: int = 4) -> str:
    """Returns a number with a few digits, rounded to an integer from a thousand on; a dash for None or NaN."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.{digits}g}"


def card(title: str, *parts: str, note: str = "") -> str:
    """Returns a box with a title, the parts one below the other and a faint note at the end.

    Args:
      title: any text.
      *parts: HTML, such as the other functions here return.
      note: any text.
    """
    below = f'<div style="opacity:.65;font-size:12px">{safe_text(note)}</div>' if note else ""
    inside = "".join(f'<div style="margin:6px 0">{part}</div>' for part in parts if part)
    head = f'<div style="font-weight:600;overflow-wrap:anywhere">{safe_text(title)}</div>'
    box = f"display:inline-block;max-width:100%;overflow-x:auto;border:1px solid {_LINE};border-radius:8px;padding:10px 14px"
    return f'<div class="tacit" style="{_FONT};{box}">{head}{inside}{below}</div>'


def facts(pairs: Mapping[str, Any]) -> str:
    """Returns a list of names and values without those that are None or empty. Floats get four digits."""
    rows = []
    for name, value in pairs.items():
        if value is not None and value != "":
            words = f"{value:,}" if isinstance(value, int) else value
            shown = short_number(value) if isinstance(value, float) else safe_text(words)
            rows.append(f'<span style="opacity:.65">{safe_text(name)}</span><span>{shown}</span>')
    return f'<div style="display:grid;grid-template-columns:max-content 1fr;gap:1px 14px">{"".join(rows)}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], num_left: int = 1) -> str:
    """Returns a table; its first columns are left-aligned, the others right-aligned.

    Args:
      head: any texts.
      rows: cells of HTML; escape texts with `safe_text`.
      num_left: how many columns are left-aligned.
    """
    style = f"padding:2px 8px;border:0;border-bottom:1px solid {_FAINT};white-space:nowrap;background:none"
    aligned = [f"text-align:{'left' if column < num_left else 'right'};{style}" for column in range(len(head))]
    top = "".join(f'<th style="{how};font-weight:600">{safe_text(name)}</th>' for how, name in zip(aligned, head, strict=True))
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{how}">{cell}</td>' for how, cell in zip(aligned, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<table style="border-collapse:collapse;margin:0;font-size:13px"><tr style="background:none">{top}</tr>{body}</table>'
    )


def legend(names: Sequence[str], colors: Sequence[str], shares: Sequence[float] | None = None) -> str:
    """Returns names beside patches of their colours, optionally with each one's share."""
    parts = []
    for place, (name, color) in enumerate(zip(names, colors, strict=True)):
        share = "" if shares is None or math.isnan(shares[place]) else f" {100 * shares[place]:.1f} %"
        patch = (
            f'<span style="display:inline-block;width:10px;height:10px;border-radius:2px;background:{escape(color)}"></span>'
        )
        parts.append(f'<span style="margin-right:12px;white-space:nowrap">{patch} {safe_text(name)}{share}</span>')
    return "".join(parts)


def stacked_bar(shares: Sequence[float], names: Sequence[str], colors: Sequence[str], width: int = 220) -> str:
    """Returns a bar split into shares, which sum to at most 1; NaN shares are left out."""
    x, rects, told = 0.0, [], []
    for share, name, color in zip(shares, names, colors, strict=True):
        if share > 0:
            size = width * min(share, 1.0)
            title = f"{safe_text(name)} {100 * share:.1f} %"
            rects.append(
                f'<rect x="{x:.1f}" width="{size:.1f}" height="14" fill="{escape(color)}"><title>{title}</title></rect>'
            )
            told.append(title)
            x += size
    label = ", ".join(told)
    return svg(width, 14, label, f'<rect width="{width}" height="14" rx="2" fill="{_FAINT}"/>{"".join(rects)}')


def meter(share: float, width: int = 60) -> str:
    """Returns a bar filled up to a share; a dash for NaN."""
    return "-" if math.isnan(share) else stacked_bar([share], [""], [_ACCENT], width)


def log_curve(points: Sequence[tuple[float, float]], below: str, beside: str) -> str:
    """Returns a line through points (x, y) with a logarithmic y axis; empty text for fewer than two points above 0.

    Args:
      points: x in ascending order.
      below: what x counts (the x axis's name).
      beside: what y is (the y axis's name).
    """
    known = [(x, y) for x, y in points if y > 0 and math.isfinite(x) and math.isfinite(y)]
    if len(known) < 2 or known[0][0] == known[-1][0]:
        return ""
    step = -(-len(known) // MAX_POINTS)
    known = [*known[:-1:step], known[-1]]
    width, height, left, top = 300, 84, 60, 8
    heights = [math.log10(y) for _, y in known]
    low, high = min(heights), max(heights)
    first, last = known[0][0], known[-1][0]
    spots = [
        (left + width * (x - first) / (last - first), top + height * (high - y) / ((high - low) or 1.0))
        for (x, _), y in zip(known, heights, strict=True)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    counted, named = f"{short_number(last, 6)} {safe_text(below)}", safe_text(beside)
    label = f"{named} from {short_number(known[0][1], 3)} to {short_number(known[-1][1], 3)} over {counted}"
    words = 'font-size="11" fill="currentColor" fill-opacity=".7"'
    return svg(
        left + width + 12, top + height + 22, label,
        f'<path d="M{left},{top}V{top + height}H{left + width}" fill="none" stroke="{_LINE}"/>'
        f'<polyline points="{line}" fill="none" stroke="{_ACCENT}" stroke-width="1.8"/>'
        f'<circle cx="{spots[-1][0]:.1f}" cy="{spots[-1][1]:.1f}" r="3" fill="{_ACCENT}"/>'
        f'<text x="{left - 6}" y="{top + 8}" text-anchor="end" {words}>{short_number(10**high, 2)}</text>'
        f'<text x="{left - 6}" y="{top + height}" text-anchor="end" {words}>{short_number(10**low, 2)}</text>'
        f'<text x="{left}" y="{top + height + 16}" {words}>{named}, log scale</text>'
        f'<text x="{left + width}" y="{top + height + 16}" text-anchor="end" {words}>{counted}</text>',
    )  # fmt: skip


def interval_bar(mean: float, ends: tuple[float, float]) -> str:
    """Returns a drawing of a mean and its interval relative to zero."""
    low, high = min(ends[0], 0.0), max(ends[1], 0.0)
    width, spread = 300, (high - low) or 1.0
    at = [10 + (width - 20) * (place - low) / spread for place in (ends[0], mean, ends[1], 0.0)]
    label = f"{short_number(mean)}, 95 % interval {short_number(ends[0])} to {short_number(ends[1])}"
    words = 'font-size="11" fill="currentColor" fill-opacity=".7" text-anchor="middle"'
    return svg(
        width, 40, label,
        f'<path d="M10,16H{width - 10}" stroke="{_LINE}"/>'
        f'<path d="M{at[3]:.1f},6V26" stroke="currentColor" stroke-opacity=".6"/>'
        f'<path d="M{at[0]:.1f},16H{at[2]:.1f}" stroke="{_ACCENT}" stroke-width="6" stroke-opacity=".5"/>'
        f'<circle cx="{at[1]:.1f}" cy="16" r="4.5" fill="{_ACCENT}"/>'
        f'<text x="{min(max(at[3], 12), width - 12):.1f}" y="38" {words}>0</text>',
    )  # fmt: skip


def text_drawing(lines: str) -> str:
    """Returns text as it is, in a fixed-width font."""
    return f'<pre style="margin:0;line-height:1.2;background:none;color:inherit">{escape(lines)}</pre>' if lines else ""


def svg(width: float, height: float, label: str, inside: str) -> str:
    """Returns a picture; screen readers say `label`, which must be escaped already."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}" '
        f'style="vertical-align:middle;max-width:100%">{inside}</svg>'
    )
