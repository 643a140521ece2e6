"""The bounds of a query whose rows are divided: of all parts together."""

from dataclasses import replace

from ontoweir.checker.model.plan import SynopsisPlan, SynopsisTable
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.runtime.division.division import Division
from ontoweir.runtime.live.model.live_job import RunningQuery


def widen_bounds(query: RunningQuery, division: Division) -> RunningQuery:
    """The query with the factors of its synopses, and the bound of all parts together.

    Every part is a query of its own, so each keeps its bound. Of a synopsis that has the value by
    which rows are divided in its key, whole, different parts have different rows: all together are
    those of one process. Of others each part may have as many.
    """
    factors: list[int] = []
    bound = query.bound
    for prepared in query.plans:
        dividing = _find_classes(prepared.plan, division)
        for table in prepared.plan.tables:
            if not table.stored:
                continue
            factor = 1 if _tells(table, dividing) else division.parts
            factors.append(factor)
            if table.bound.rows is None:
                bound = None
            if bound is not None and table.bound.rows is not None:
                bound += (factor - 1) * table.bound.rows
    return replace(query, factors=tuple(factors), bound=bound)


def _find_classes(plan: SynopsisPlan, division: Division) -> frozenset[int]:
    """The classes of the values by which rows are divided."""
    form = plan.form
    found = set()
    for member in form.members:
        column = division.columns.get(member.stream)
        if column is not None:
            found.add(form.class_of.get(Attribute(member.alias, column), -1))
    return frozenset(found - {-1})


def _tells(table: SynopsisTable, dividing: frozenset[int]) -> bool:
    """Whether the key of a synopsis has one of some classes, and all of its values."""
    few = {sample.value for sample in table.samples}
    whole = {key.value for key in table.keys if key.whole}
    return bool((whole - few) & dividing)
