"""Random tables, with what is declared of them, and random rows that keep it."""

import random
from dataclasses import dataclass

from tests.sparql_counts.case import Case, Cell, Row, Table

STREAM_COLUMNS = {"s": ("id", "n", "a", "p"), "u": ("id", "k", "b", "q")}
RELATION_COLUMNS = {"r": ("id", "m", "c", "e"), "w": ("id", "l", "d", "f")}
COLUMNS = STREAM_COLUMNS | RELATION_COLUMNS
TEXTS = ("x", "y", "1", "x/y", "é", None)
EDGES = (2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1)
VALUES: dict[str, tuple[str | None, ...]] = {
    "decimal(6,2)": ("1", "1.50", "1.5", "-2.25", "0.1", None),
    "date": ("2020-01-01", "2020-01-02", "1999-12-31", None),
    "timestamp": ("2020-01-01 00:00:00", "2020-01-01 00:05:00.25", "1969-12-31 23:59:59", None),
    "boolean": ("true", "false", None),
}
"""Of the last column of a table: what files have, for each type."""


@dataclass(frozen=True, slots=True)
class Taste:
    """What random cases may have."""

    keyed: bool = False
    """Every subject template has a key of its table."""
    distinct: bool | None = None
    """SELECT DISTINCT always, never, or (None) now and then."""
    static: bool = False
    """Static relations alone."""
    mixed: bool = False
    """Numbers and texts make the same IRIs."""
    plain: bool = False
    """IRIs, whole numbers and texts alone; no blank nodes."""
    unbounded: bool = False
    """Columns have no ranges, and queries join what holds at a time with what holds later."""


def make_table(draw: random.Random, name: str, taste: Taste) -> Table:
    """A table of `COLUMNS`: types, keys, references, ranges and limits are drawn."""
    first, number, text, other = COLUMNS[name]
    columns = [(first, "int"), (number, "int"), (text, "string")]
    if not taste.plain:
        columns.append((other, draw.choice(sorted(VALUES))))
    stream = name in STREAM_COLUMNS
    keys: tuple[tuple[str, ...], ...] = ()
    if taste.keyed or draw.random() < 0.4:
        keys = (draw.choice(((first,), (first,), (first,), (first, number))),)
    if taste.keyed:
        keys = ((first,),)
    references: tuple[tuple[str, str, str], ...] = ()
    if stream and draw.random() < 0.3:
        references = ((number, "r", "id"),)
    ranges = ((first, 0, 3), (number, 0, 3)) if draw.random() < 0.8 else ()
    if taste.unbounded:
        return Table(name, tuple(columns), stream, keys)
    lags: tuple[tuple[str, str, str, int], ...] = ()
    if name == "u" and draw.random() < 0.2:
        lags = (("id", "s", draw.choice(("id", "n")), draw.choice((0, 1))),)
    return Table(
        name,
        tuple(columns),
        stream,
        keys,
        references,
        ranges,
        lasting=stream and bool(keys) and draw.random() < 0.2,
        lags=lags,
        most=draw.choice((None, 2, 4, 20, 20)),
    )


def random_rows(seed: int, case: Case, *, edges: bool = True) -> dict[str, tuple[Row, ...]]:
    """Rows that keep what the tables of a case declare. With decimals there are no numbers near
    2^63: all numbers of a query are counted in units of the smallest, in 64 bits; nor without
    `edges`."""
    draw = random.Random(seed)
    decimals = any(kind.startswith("decimal") for t in case.tables for _, kind in t.columns)
    whole = edges and not decimals
    found: dict[str, tuple[Row, ...]] = {}
    for table in sorted(case.tables, key=lambda t: (t.stream, t.name)):
        rows: list[Row] = []
        ranged = {name for name, _, _ in table.ranges} if whole else {n for n, _ in table.columns}
        for _ in range(draw.choice((2, 3, 4, 6)) * (2 if table.stream else 1)):
            cells = tuple(_make_cell(draw, kind, name in ranged) for name, kind in table.columns)
            row: Row = (draw.randrange(3), *cells) if table.stream else cells
            if _keeps(row, rows, table, found):
                rows.append(row)
        found[table.name] = tuple(rows)
    return found


def _make_cell(draw: random.Random, kind: str, ranged: bool) -> Cell:
    if kind == "string":
        return draw.choice(TEXTS)
    if kind in VALUES:
        return draw.choice(VALUES[kind])
    if not ranged and draw.random() < 0.2:
        return draw.choice(EDGES)
    return draw.choice((0, 1, 1, 2, 3, None)) if draw.random() < 0.7 else 1


def _keeps(row: Row, rows: list[Row], table: Table, found: dict[str, tuple[Row, ...]]) -> bool:
    """Whether a row keeps keys, references, lags and limits; no key of a relation is NULL, and none
    that lasts."""
    names = (["step"] if table.stream else []) + [name for name, _ in table.columns]
    for key in table.keys:
        over = ["step"] if table.stream and not table.lasting else []
        places = [names.index(c) for c in (*over, *key)]
        mine = [row[i] for i in places]
        if None in mine:
            if not table.stream or table.lasting:
                return False
        elif any([other[i] for i in places] == mine for other in rows):
            return False
    for column, relation, _ in table.references:
        if row[names.index(column)] not in {other[0] for other in found[relation]}:
            return False
    for column, behind, there, steps in table.lags:
        place = 1 + COLUMNS[behind].index(there)
        value, step = row[names.index(column)], row[0]
        assert isinstance(step, int)
        if any(
            value is not None and other[place] == value and step > (other[0] or 0) + steps  # type: ignore[operator]
            for other in found[behind]
        ):
            return False
    beside = sum(not table.stream or other[0] == row[0] for other in rows)
    return table.most is None or beside < table.most
