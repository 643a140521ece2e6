"""Evaluate a simple view of the catalog over one relation without Spark."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import (
    Catalog,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Scalar,
)
from ontoweir.mappings.sql.read_simple_view import SimpleView, read_simple_view
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.spark.materialize_frame import LARGEST_COLLECTED

_SUM = "sum of "
_DIGITS, _MOST = 38, 28
"""Digits of a sum, and of what is added up: those of ten thousand million rows do not exceed it."""


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
    """The declared columns of `SELECT columns, min(…), max(…), sum(…), count(…) FROM one relation
    WHERE columns are (not) NULL GROUP BY columns`, sums of whole numbers and decimals, exact. None:
    the view is something else, which Spark has to evaluate.

    Args:
        relation: whose view it is.
        view: Spark SQL.
        catalog: the relations that it may mention.
        load: gives a relation's rows.
    """
    simple = read_simple_view(view)
    if simple is None:
        from ontoweir.runtime.statics.parse_view import list_constants, parse_view  # brings sqlglot

        if (constants := list_constants(view)) is not None:
            return _make_constants(relation, constants)

        simple = parse_view(view)
    if simple is None or [simple.table] != mentioned(view, relation, catalog):
        return None
    every = [c.name.lower() for c in catalog.relations[simple.table].columns]
    if len(set(every)) < len(every) or not _is_known(simple, catalog.relations[simple.table]):
        return None
    group = list(dict.fromkeys(simple.grouped or ()))
    names = [name for name, _, _ in simple.outputs]
    if len({n.lower() for n in names}) < len(names):
        return None
    if not {c.name for c in relation.columns} <= set(names):
        return None
    plain = [column for _, column, function in simple.outputs if function is None]
    folded = len(plain) < len(names)
    if (group and not set(plain) <= set(group)) or (not group and folded and plain):
        return None
    known = {c.name: c.type for c in catalog.relations[simple.table].columns}
    added = {c: known[c] for _, c, f in simple.outputs if f == "sum"}
    if not all(_adds_up(kind) for kind in added.values()):
        return None
    rows = load(simple.table)
    if rows.nbytes >= LARGEST_COLLECTED and (group or folded or simple.tests):
        return None  # what is made here would be in memory
    for column, null in simple.tests:
        held = rows.column(column)
        rows = rows.filter(pc.is_null(held) if null else pc.is_valid(held))
    if group or folded:
        called = {(f"{_SUM}{c}" if f == "sum" else c, f) for _, c, f in simple.outputs if f}
        try:
            for column, kind in added.items():
                scale = kind.scale if isinstance(kind, DecimalType) else 0
                exact = rows.column(column).cast(pa.decimal128(_DIGITS, scale))
                rows = rows.append_column(f"{_SUM}{column}", exact)
            rows = rows.group_by(group, use_threads=False).aggregate(sorted(called))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return None
    made = {
        n: rows.column(c if f is None else f"{_SUM}{c}_sum" if f == "sum" else f"{c}_{f}")
        for n, c, f in simple.outputs
    }
    return pa.table({c.name: made[c.name] for c in relation.columns})


def _make_constants(relation: Relation, rows: Sequence[Sequence[Scalar | None]]) -> pa.Table:
    """The rows of VALUES."""
    arrays = []
    for n, column in enumerate(relation.columns):
        kind = arrow_type(column.type)
        cells = [row[n] for row in rows]
        if isinstance(column.type, DecimalType):
            cells = [None if c is None else Decimal(str(c)) for c in cells]
        arrays.append(pa.array(cells, kind))
    return pa.table(arrays, names=[c.name for c in relation.columns])


def _adds_up(kind: ColumnType) -> bool:
    """Whether sums of a type are exact in so many digits."""
    return isinstance(kind, IntType) or (isinstance(kind, DecimalType) and kind.precision <= _MOST)


def _is_known(view: SimpleView, relation: Relation) -> bool:
    """Whether a view is made of declared columns, none of them doubles: the least of these is
    another one for Spark, if there are NaN."""
    columns = {c.name for c in relation.columns if not isinstance(c.type, FloatType)}
    used = {column for _, column, _ in view.outputs} | {column for column, _ in view.tests}
    return used | set(view.grouped or ()) <= columns
