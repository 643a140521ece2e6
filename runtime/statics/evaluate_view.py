"""Evaluate a simple view of the catalog over one relation without Spark."""

import re
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ontoweir.mappings.model.catalog import Catalog, FloatType, Relation
from ontoweir.runtime.spark.materialize_frame import LARGEST_COLLECTED

_PARTS = {"expressions", "from_", "where", "group"}
_EXTREMES: dict[type[exp.Expr], str] = {exp.Min: "min", exp.Max: "max"}


def mentioned(view: str, relation: Relation, catalog: Catalog) -> list[str]:
    """The other relations whose names are in a view."""
    return [
        other
        for other in catalog.relations
        if other != relation.name and re.search(rf"\b{re.escape(other)}\b", view)
    ]


def evaluate_view(
    relation: Relation, view: str, catalog: Catalog, load: Callable[[str], pa.Table]
) -> pa.Table | None:
    """The declared columns of `SELECT columns, min(…), max(…) FROM one relation WHERE columns are
    (not) NULL GROUP BY columns`. None: the view is something else, which Spark has to evaluate.

    Args:
        relation: whose view it is.
        view: Spark SQL.
        catalog: the relations that it may mention.
        load: gives a relation's rows.
    """
    try:
        parsed = sqlglot.parse_one(view, dialect="spark")
    except SqlglotError:
        return None
    others = mentioned(view, relation, catalog)
    if not isinstance(parsed, exp.Select) or {k for k, v in parsed.args.items() if v} - _PARTS:
        return None
    source = parsed.args.get("from_")
    table = source.this if isinstance(source, exp.From) else None
    if not isinstance(table, exp.Table) or [table.name] != others or _more(table, "this"):
        return None
    columns = {
        c.name for c in catalog.relations[table.name].columns if not isinstance(c.type, FloatType)
    }
    every = [c.name.lower() for c in catalog.relations[table.name].columns]
    outputs = [_output(e, columns) for e in parsed.expressions]
    group = _columns(parsed.args.get("group"), columns)
    tests = _tests(parsed.args.get("where"), columns)
    if group is None or tests is None or len(set(every)) < len(every):
        return None
    selected = [o for o in outputs if o is not None]
    names = [name for name, _, _ in selected]
    if len(selected) < len(outputs) or len({n.lower() for n in names}) < len(names):
        return None
    if not {c.name for c in relation.columns} <= set(names):
        return None
    plain = [column for _, column, function in selected if function is None]
    if (group and not set(plain) <= set(group)) or (not group and len(plain) < len(selected)):
        return None
    rows = load(table.name)
    if rows.nbytes >= LARGEST_COLLECTED and (group or tests):
        return None  # what is made here would be in memory
    for column, null in tests:
        held = rows.column(column)
        rows = rows.filter(pc.is_null(held) if null else pc.is_valid(held))
    if group:
        wanted = sorted({(c, f) for _, c, f in selected if f is not None})
        try:
            rows = rows.group_by(group, use_threads=False).aggregate(wanted)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return None
    made = {n: rows.column(c if f is None else f"{c}_{f}") for n, c, f in selected}
    return pa.table({c.name: made[c.name] for c in relation.columns})


def _more(node: exp.Expr, *known: str) -> bool:
    """Whether a node has parts beside those known."""
    return any(bool(part) for name, part in node.args.items() if name not in known)


def _column(node: object, columns: set[str]) -> str | None:
    if not isinstance(node, exp.Column) or _more(node, "this") or node.name not in columns:
        return None
    return node.name if isinstance(node.this, exp.Identifier) else None


def _output(node: exp.Expr, columns: set[str]) -> tuple[str, str, str | None] | None:
    """(name, column, function) of what is selected."""
    name, inner = node.alias_or_name, node.this if isinstance(node, exp.Alias) else node
    function = _EXTREMES.get(type(inner))
    if function is not None:
        if not isinstance(node, exp.Alias) or _more(inner, "this"):
            return None
        inner = inner.this
    column = _column(inner, columns)
    return None if column is None or not name else (name, column, function)


def _columns(group: object, columns: set[str]) -> list[str] | None:
    """The columns after GROUP BY; none without one."""
    if group is None:
        return []
    if not isinstance(group, exp.Group) or _more(group, "expressions"):
        return None
    grouped = [_column(e, columns) for e in group.expressions]
    known = [c for c in grouped if c is not None]
    return list(dict.fromkeys(known)) if len(known) == len(grouped) else None


def _tests(where: object, columns: set[str]) -> Sequence[tuple[str, bool]] | None:
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
        column = _column(inner.this, columns)
        if column is None:
            return None
        tests.append((column, null))
    return tests
