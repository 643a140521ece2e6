"""Parse a view of the catalog, for those that can be evaluated without Spark."""

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ontoweir.mappings.model.catalog import Scalar
from ontoweir.mappings.sql.read_literal import read_literal
from ontoweir.mappings.sql.read_simple_view import SimpleView

_PARTS = {"expressions", "from_", "where", "group"}
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Min: "min",
    exp.Max: "max",
    exp.Sum: "sum",
    exp.Count: "count",
}


def list_constants(view: str) -> "list[list[Scalar | None]] | None":
    """The rows of a view that is `SELECT * FROM VALUES (…), …` of constants; None: of another."""
    if not view.startswith("SELECT * FROM VALUES "):
        return None
    try:
        parsed = sqlglot.parse_one(view, dialect="spark")
    except SqlglotError:
        return None
    start = parsed.args.get("from_")
    values = None if start is None else start.this
    if not isinstance(values, exp.Values):
        return None
    cells = [row.expressions for row in values.expressions]
    known = [[isinstance(c, exp.Null) or read_literal(c) is not None for c in r] for r in cells]
    if not all(all(row) for row in known):
        return None
    return [[read_literal(cell) for cell in row] for row in cells]


def parse_view(view: str) -> SimpleView | None:
    """The parts of a view of the form of `SimpleView`, however it is written, as SQL's parser
    reads them; None where it has others, or is not SQL."""
    try:
        parsed = sqlglot.parse_one(view, dialect="spark")
    except SqlglotError:
        return None
    if not isinstance(parsed, exp.Select) or {k for k, v in parsed.args.items() if v} - _PARTS:
        return None
    source = parsed.args.get("from_")
    table = source.this if isinstance(source, exp.From) else None
    if not isinstance(table, exp.Table) or _more(table, "this"):
        return None
    outputs = [_output(e) for e in parsed.expressions]
    selected = tuple(o for o in outputs if o is not None)
    tests = _tests(parsed.args.get("where"))
    group = parsed.args.get("group")
    grouped = None if group is None else _columns(group)
    if tests is None or len(selected) < len(outputs) or (group is not None and grouped is None):
        return None
    return SimpleView(
        table.name, selected, tuple(tests), None if grouped is None else tuple(grouped)
    )


def _more(node: exp.Expr, *known: str) -> bool:
    """Whether a node has parts beside those known."""
    return any(bool(part) for name, part in node.args.items() if name not in known)


def _column(node: object) -> str | None:
    if not isinstance(node, exp.Column) or _more(node, "this"):
        return None
    return node.name if isinstance(node.this, exp.Identifier) else None


def _output(node: exp.Expr) -> tuple[str, str, str | None] | None:
    """(name, column, function) of what is selected."""
    name, inner = node.alias_or_name, node.this if isinstance(node, exp.Alias) else node
    function = _FUNCTIONS.get(type(inner))
    if function is not None:
        if not isinstance(node, exp.Alias) or _more(inner, "this", "big_int"):
            return None
        inner = inner.this
    column = _column(inner)
    return None if column is None or not name else (name, column, function)


def _columns(group: object) -> list[str] | None:
    """The columns after GROUP BY."""
    if not isinstance(group, exp.Group) or _more(group, "expressions"):
        return None
    grouped = [_column(e) for e in group.expressions]
    known = [c for c in grouped if c is not None]
    return list(dict.fromkeys(known)) if len(known) == len(grouped) else None


def _tests(where: object) -> Sequence[tuple[str, bool]] | None:
    """(column, whether it is NULL) of the conditions."""
    if where is None:
        return []
    assert isinstance(where, exp.Where)
    tests: list[tuple[str, bool]] = []
    unvisited: list[exp.Expr] = [where.this]
    while unvisited:
        node = unvisited.pop()
        null = not isinstance(node, exp.Not)
        inner = node if null else node.this
        if isinstance(node, exp.And):
            unvisited += [node.this, node.expression]
            continue
        if not isinstance(inner, exp.Is) or not isinstance(inner.expression, exp.Null):
            return None
        column = _column(inner.this)
        if column is None:
            return None
        tests.append((column, null))
    return tests
