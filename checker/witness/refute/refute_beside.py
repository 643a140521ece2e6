"""Witnesses against queries of answers beside which rows are there, or are not.

What has to be remembered is what may be beside answers that are still to come, or what is needed of
answers whose rows have not all come. Copies of the matches of answers with what is beside them, and
of answers alone, are laid out as for queries of such matches; the whole query confirms them.
"""

from dataclasses import replace
from itertools import islice

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.witness.confirm.confirm_beside import can_confirm
from ontoweir.checker.witness.confirm.read_answers import open_answers
from ontoweir.checker.witness.evaluate_naively import counting_steps
from ontoweir.checker.witness.find_witness import find_witness
from ontoweir.checker.witness.refute.avoid_rows import avoid_rows
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import OutOfTimeError
from ontoweir.rewriter.views.expand_views import expand_views

_SEVERAL = 16
"""In so many choices of branches of a part's views, witnesses are looked for."""


def refute_beside(
    union: SpjUnion, catalog: Catalog, known: Statistics, *, size: int = 4
) -> Witness | None:
    """A confirmed witness against a query that reads answers beside which rows are there, or are
    not; None: none was found, or it is no such query (`can_confirm`)."""
    if not can_confirm(union):
        return None
    block = union.blocks[0]
    assert block.absence is not None
    for query in (union, *block.queries):
        catalog = extend_catalog(catalog, query)
    parts = [replace(part.hits, distinct=True) for part in block.absence.parts]
    opened = open_answers(union)
    if opened is not None:
        parts += [opened, *avoid_rows(opened, block.absence, block.union)]
    try:
        with counting_steps():
            found = (_refute(part, union, catalog, known, size) for part in parts)
            return next((witness for witness in found if witness is not None), None)
    except OutOfTimeError:
        return None


def _refute(
    part: SpjUnion, union: SpjUnion, catalog: Catalog, known: Statistics, size: int
) -> Witness | None:
    """A witness whose copies are matches of a query, against the whole one."""
    for disjunct in part.disjuncts:
        for query in islice(expand_views(disjunct, part.views), _SEVERAL):
            form = normalise_query(
                query, distinct=part.distinct, catalog=catalog, statistics=known, timed=True
            )
            if not form.satisfiable:
                continue
            failures = decide_lag(form).failures
            found = find_witness(form, union, failures, catalog, size=size)
            if found is not None:
                return found
    return None
