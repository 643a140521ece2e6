"""A laid-out graph as SVG, inline in a page or as a file of its own."""

from collections.abc import Sequence
from html import escape

from ontoweir.draw.draw_layout import CHARACTER, LINE, Box, Line, Picture

STYLE = """
.graph { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; max-width: none; }
.graph text { fill: #1c2530; text-anchor: middle; }
.graph .node rect { fill: #eef3f8; stroke: #5b7083; }
.graph .unbounded rect { fill: #fdecea; stroke: #b3261e; }
.graph .finite rect { fill: #e9f5ec; stroke: #2e7d4f; }
.graph .constant rect { fill: #ffffff; stroke: #8a97a3; }
.graph .label rect { fill: #ffffff; }
.graph path { fill: none; stroke: #5b7083; stroke-width: 1.4; }
.graph path.unbounded { stroke: #b3261e; }
.graph path.implied { stroke-dasharray: 5 4; }
.graph polygon { fill: #5b7083; }
.graph polygon.unbounded { fill: #b3261e; }
@media (prefers-color-scheme: dark) {
  .graph text { fill: #dde5ec; }
  .graph .node rect { fill: #22303c; stroke: #8ca3b6; }
  .graph .unbounded rect { fill: #43201d; stroke: #f2877e; }
  .graph .finite rect { fill: #1d3626; stroke: #79c596; }
  .graph .constant rect, .graph .label rect { fill: #161d24; }
  .graph path { stroke: #8ca3b6; }
  .graph polygon { fill: #8ca3b6; }
  .graph path.unbounded { stroke: #f2877e; }
  .graph polygon.unbounded { fill: #f2877e; }
}
"""
"""The style of graphs, light and dark."""


def print_svg(picture: Picture, title: str) -> str:
    """The `<svg>` element of a graph, for a page that has the style."""
    description = describe_picture(picture)
    return _element(picture.width, picture.height, title, description, "", _content(picture))


def print_sheet(pictures: Sequence[tuple[str, Picture]], title: str) -> str:
    """Graphs with headings, one below the other, as an SVG document with its style in it."""
    parts: list[str] = []
    top = 0.0
    for heading, picture in pictures:
        x = _number(len(heading) * CHARACTER / 2 + 12)
        shift = _number(top + 32)
        parts += [f'<text x="{x}" y="{_number(top + 24)}">{escape(heading)}</text>']
        parts += [f'<g transform="translate(0 {shift})">', _content(picture), "</g>"]
        top += picture.height + 40
    width = max((max(p.width, len(h) * CHARACTER + 24) for h, p in pictures), default=2 * CHARACTER)
    back = "svg { background: #ffffff } @media (prefers-color-scheme: dark) "
    style = f"<style>{STYLE}{back}{{ svg {{ background: #161d24 }} }}</style>"
    description = " ".join(
        f"{heading}. {describe_picture(picture)}" for heading, picture in pictures
    )
    return _element(width, top, title, description, style, "\n".join(parts)) + "\n"


def describe_picture(picture: Picture) -> str:
    """A graph in words: its boxes, and what is written on the lines between them."""
    nodes = "; ".join(" ".join(box.lines) for box in picture.nodes)
    labels = "; ".join(" ".join(box.lines) for box in picture.labels)
    return f"Boxes: {nodes}." + (f" Lines: {labels}." if labels else "")


def _element(
    width: float, height: float, title: str, description: str, style: str, content: str
) -> str:
    wide, high = _number(width), _number(height)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" '
        f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">\n'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{style}\n{content}\n</svg>"
    )


def _content(picture: Picture) -> str:
    return "\n".join(
        (
            *(_line(line) for line in picture.lines),
            *(_box(box, "label", 0) for box in picture.labels),
            *(_box(box, "node", 5) for box in picture.nodes),
        )
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _box(box: Box, kind: str, radius: int) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    names = f"{kind} {box.style}".strip()
    rows = [
        f'<text x="{_number(box.x)}" y="{_number(y + 4 + LINE * (n + 0.7))}">{escape(text)}</text>'
        for n, text in enumerate(box.lines)
    ]
    return (
        f'<g class="{escape(names)}"><rect x="{_number(x)}" y="{_number(y)}" '
        f'width="{_number(box.width)}" height="{_number(box.height)}" rx="{radius}"/>'
        f"{''.join(rows)}</g>"
    )


def _line(line: Line) -> str:
    """Straight where it can be, and vertical at every point, so that curves do not cut corners."""
    (x, y), *rest = line.points
    path = [f"M {_number(x)} {_number(y)}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        path.append(
            f"C {_number(x)} {_number(middle)} {_number(to_x)} {_number(middle)} "
            f"{_number(to_x)} {_number(to_y)}"
        )
        x, y = to_x, to_y
    drawn = f'<path class="{escape(line.style)}" d="{" ".join(path)}"/>'
    if line.arrow:
        back = -7 if line.points[-2][1] < y else 7
        corners = f"{x - 4:.1f},{y + back:.1f} {x + 4:.1f},{y + back:.1f} {x:.1f},{y:.1f}"
        drawn += f'<polygon class="{escape(line.style)}" points="{corners}"/>'
    return drawn
