"""Witnesses whose copies are matches of joins that show what a query does."""

from collections.abc import Iterable

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.witness.evaluate_naively import counting_steps
from ontoweir.checker.witness.find_witness import find_witness
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.model.watch_time import OutOfTimeError


def refute_joins(
    joins: Iterable[SpjQuery], union: SpjUnion, catalog: Catalog, known: Statistics, size: int
) -> Witness | None:
    """A witness that is laid out as copies of a match of one of some joins, and confirmed against
    the whole query; None: none was found, or not in time.

    Args:
        joins: tried in order, each as a set.
        union: the query.
        catalog: with its views, blocks and derived columns.
        known: of the static data.
        size: how many optional tuples it has.
    """
    try:
        with counting_steps():
            for join in joins:
                form = normalise_query(
                    join, distinct=True, catalog=catalog, statistics=known, timed=True
                )
                if not form.satisfiable:
                    continue
                failures = decide_lag(form).failures
                found = find_witness(form, union, failures, catalog, size=size, again=False)
                if found is not None:
                    return found
    except OutOfTimeError:
        pass
    return None
