"""Evaluate a simple view of the catalog over one relation without Spark."""

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.catalog import Catalog, FloatType, Relation
from ontoweir.mappings.sql.read_simple_view import SimpleView, read_simple_view
from ontoweir.runtime.spark.materialize_frame import LARGEST_COLLECTED


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
    simple = read_simple_view(view)
    if simple is None:
        from ontoweir.runtime.statics.parse_view import parse_view  # brings sqlglot

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
    if (group and not set(plain) <= set(group)) or (not group and len(plain) < len(names)):
        return None
    rows = load(simple.table)
    if rows.nbytes >= LARGEST_COLLECTED and (group or simple.tests):
        return None  # what is made here would be in memory
    for column, null in simple.tests:
        held = rows.column(column)
        rows = rows.filter(pc.is_null(held) if null else pc.is_valid(held))
    if group:
        wanted = sorted({(c, f) for _, c, f in simple.outputs if f is not None})
        try:
            rows = rows.group_by(group, use_threads=False).aggregate(wanted)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return None
    made = {n: rows.column(c if f is None else f"{c}_{f}") for n, c, f in simple.outputs}
    return pa.table({c.name: made[c.name] for c in relation.columns})


def _is_known(view: SimpleView, relation: Relation) -> bool:
    """Whether a view is made of declared columns, none of them doubles: the least of these is
    another one for Spark, if there are NaN."""
    columns = {c.name for c in relation.columns if not isinstance(c.type, FloatType)}
    used = {column for _, column, _ in view.outputs} | {column for column, _ in view.tests}
    return used | set(view.grouped or ()) <= columns
