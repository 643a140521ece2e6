"""Lay out a small graph in layers (Sugiyama et al. 1981): the earlier or lesser above the other.

Every edge's label is a box of its own in the row between its ends, and every edge that passes a
row has a place in it. So boxes of one row stand side by side, rows stand one below the other, and
no two labels overlap, whatever the graph.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import networkx as nx

CHARACTER, LINE, PAD = 7.3, 16.0, 8.0
"""Pixels: the width of a character and the height of a line at 12 px monospace; inside a box."""
_GAP, _ROW_GAP, _MARGIN, _SWEEPS = 18.0, 26.0, 12.0, 8


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A box: its lines of text, and its style (a CSS class)."""

    name: str
    lines: tuple[str, ...]
    style: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A line between two nodes with lines of text on it. `ranked`: the first end comes first, and
    stands above; `arrow`: drawn with a head at the second."""

    first: str
    second: str
    lines: tuple[str, ...]
    style: str = ""
    ranked: bool = True
    arrow: bool = True


@dataclass(frozen=True, slots=True)
class Box:
    """A placed box: centre and size in pixels."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    style: str

    def overlaps(self, other: "Box") -> bool:
        """Whether two boxes have an inner point in common."""
        across = abs(self.x - other.x) < (self.width + other.width) / 2
        return across and abs(self.y - other.y) < (self.height + other.height) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """A placed edge: the points it runs through."""

    points: tuple[tuple[float, float], ...]
    style: str
    arrow: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A laid-out graph; `nodes` and `labels` do not overlap."""

    width: float
    height: float
    nodes: tuple[Box, ...]
    labels: tuple[Box, ...]
    lines: tuple[Line, ...]


@dataclass(slots=True)
class _Slot:
    """A place in a row: a node, an edge's label, or (no lines) where an edge passes. `part`: which
    connected part it is in; `band`: the height of its row."""

    row: int
    lines: tuple[str, ...]
    style: str
    width: float
    height: float
    near: list["_Slot"]
    part: int = 0
    x: float = 0.0
    y: float = 0.0
    band: float = 0.0


def lay_out_graph(nodes: Sequence[GraphNode], edges: Sequence[Edge]) -> Picture:
    """Place a graph's nodes and labels; deterministic.

    Raises:
        KeyError: an edge ends at no node.
    """
    ranks = _rank(nodes, edges)
    slots = {n.name: _slot(2 * ranks[n.name], n.lines, n.style) for n in nodes}
    rows: dict[int, list[_Slot]] = {}
    for slot in slots.values():
        rows.setdefault(slot.row, []).append(slot)
    chains = [_chain(edge, slots, rows) for edge in edges]
    ordered = [rows[r] for r in sorted(rows)]
    _order(ordered)
    _place(ordered)
    found = [s for row in ordered for s in row]
    left = min((s.x - s.width / 2 for s in found), default=0.0) - _MARGIN
    top = _MARGIN
    for row in ordered:
        height = max(s.height for s in row)
        for slot in row:
            slot.x, slot.y, slot.band = slot.x - left, top + height / 2, height
        top += height + _ROW_GAP
    own = {id(s) for s in slots.values()}
    return Picture(
        width=max((s.x + s.width / 2 for s in found), default=0.0) + _MARGIN,
        height=top - _ROW_GAP + _MARGIN if found else 0.0,
        nodes=tuple(_box(s) for s in slots.values()),
        labels=tuple(_box(s) for s in found if s.lines and id(s) not in own),
        lines=tuple(
            Line(_points(chain), e.style, e.arrow) for e, chain in zip(edges, chains, strict=True)
        ),
    )


def _slot(row: int, lines: tuple[str, ...], style: str) -> _Slot:
    width = max((len(text) for text in lines), default=0) * CHARACTER + 2 * PAD
    return _Slot(row, lines, style, width, len(lines) * LINE + PAD if lines else 1.0, [])


def _rank(nodes: Sequence[GraphNode], edges: Sequence[Edge]) -> Mapping[str, int]:
    """The longest way from above; an edge that closes a cycle counts for nothing."""
    graph = nx.DiGraph()
    graph.add_nodes_from(n.name for n in nodes)
    for e in edges:
        if e.ranked and e.first != e.second and not nx.has_path(graph, e.second, e.first):
            graph.add_edge(e.first, e.second)
    rows = enumerate(nx.topological_generations(graph))
    return {name: rank for rank, names in rows for name in names}


def _chain(
    edge: Edge, slots: Mapping[str, _Slot], rows: dict[int, list[_Slot]]
) -> tuple[_Slot, ...]:
    """The slots an edge runs through: its ends, its label in the row below the upper end, and a
    place in every further row; an edge inside a row hangs below it."""
    first, second = slots[edge.first], slots[edge.second]
    upper, lower = (first, second) if first.row <= second.row else (second, first)
    between = range(upper.row + 1, max(lower.row, upper.row + 2))
    inner = [_slot(r, edge.lines if r == upper.row + 1 else (), edge.style) for r in between]
    for slot in inner:
        rows.setdefault(slot.row, []).append(slot)
    chain = (upper, *inner, lower)
    for a, b in pairwise(chain):
        a.near.append(b)
        b.near.append(a)
    return chain if upper is first else chain[::-1]


def _order(rows: list[list[_Slot]]) -> None:
    """Order every row by the mean place of its neighbours, down and up in turn; what is not
    connected stands apart."""
    _number_parts([s for row in rows for s in row])
    for row in rows:
        row.sort(key=lambda s: s.part)
        for place, slot in enumerate(row):
            slot.x = place - len(row) / 2
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            means = {id(s): _mean(s) for s in row}
            row.sort(key=lambda s: (s.part, means[id(s)]))
            for place, slot in enumerate(row):
                slot.x = place - len(row) / 2


def _number_parts(slots: list[_Slot]) -> None:
    """Number the connected parts from 1."""
    parts = 0
    for start in slots:
        if start.part:
            continue
        parts += 1
        waiting = [start]
        while waiting:
            slot = waiting.pop()
            if not slot.part:
                slot.part = parts
                waiting.extend(slot.near)


def _mean(slot: _Slot) -> float:
    return sum(s.x for s in slot.near) / len(slot.near) if slot.near else slot.x


def _place(rows: list[list[_Slot]]) -> None:
    """Move every slot towards its neighbours, keeping order and gaps."""
    for row in rows:
        _pack(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            _pack(row, [_mean(s) for s in row])


def _pack(row: list[_Slot], wanted: list[float]) -> None:
    """Place slots from the left no nearer than the gap, then shift the row to what is wanted."""
    right = float("-inf")
    for slot, x in zip(row, wanted, strict=True):
        slot.x = max(x, right + _GAP + slot.width / 2)
        right = slot.x + slot.width / 2
    shift = sum(x - s.x for s, x in zip(row, wanted, strict=True)) / len(row)
    for slot in row:
        slot.x += shift


def _box(slot: _Slot) -> Box:
    return Box(slot.x, slot.y, slot.width, slot.height, slot.lines, slot.style)


def _points(chain: tuple[_Slot, ...]) -> tuple[tuple[float, float], ...]:
    """Straight down or up within a row, sideways only between rows: so no line crosses a box."""
    found: list[tuple[float, float]] = []
    for slot, other in pairwise(chain):
        down = 1 if other.y > slot.y else -1
        if slot is chain[0]:
            found.append((slot.x, slot.y + down * slot.height / 2))
        found.append((slot.x, slot.y + down * slot.band / 2))
        found.append((other.x, other.y - down * other.band / 2))
        if other is chain[-1]:
            found.append((other.x, other.y - down * other.height / 2))
    return tuple(point for point, _ in groupby(found))
