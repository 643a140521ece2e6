"""Whether rows with the latest ones before them are better found among those of a time."""

from collections.abc import Iterator

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    FloatType,
    Relation,
    Stream,
)
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses
from ontoweir.rewriter.before.read_gap import Gap, read_gap
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, OneOf, Op, SpjQuery


def keeps_more(one: Solutions, catalog: Catalog) -> bool:
    """Whether a row of each key is more than what is kept without (meet_before): a key may have any
    number of values, but the time from the earlier row to the later one is limited. Which of the
    two is taken changes no answer.

    Args:
        one: solutions beside whose earlier row there is no later one.
        catalog: the tables.
    """
    for hits, keys, _ in one.parts:
        known = extend_catalog(extend_catalog(catalog, one.found), hits)
        for query, other in zip(one.found.disjuncts, hits.disjuncts, strict=False):
            gap = read_gap(query, other, keys, one.times, known)
            if gap is not None and _is_limited(query, gap, known) and _is_open(query, gap, known):
                return True
    return False


def _is_limited(query: SpjQuery, gap: Gap, catalog: Catalog) -> bool:
    """Whether a condition says how long before the later row the earlier one is at most."""
    early = Attribute(gap.earlier.alias, catalog.streams[gap.earlier.table].timestamp)
    for condition in query.conditions:
        match condition:
            case Compare(left, Op.LT | Op.LE, right) if (left, right) == (gap.time, early):
                return True
            case Compare(left, Op.GT | Op.GE, right) if (left, right) == (early, gap.time):
                return True
            case _:
                continue
    return False


def _is_open(query: SpjQuery, gap: Gap, catalog: Catalog) -> bool:
    """Whether a column of the key may have any number of values, for all that is declared."""
    classes = EqualityClasses(query.occurrences, query.conditions)
    listed = [c.attribute for c in query.conditions if isinstance(c, OneOf)]
    for name, _ in gap.key:
        alike = list(_list_alike(Attribute(gap.earlier.alias, name), classes))
        if classes.constants.get(classes.find(alike[0])) or set(alike) & set(listed):
            continue
        if not any(_has_domain(a, query, catalog) for a in alike):
            return True
    return False


def _list_alike(attribute: Attribute, classes: EqualityClasses) -> Iterator[Attribute]:
    yield attribute
    for first, others in classes.members():
        if classes.same(first, attribute):
            yield from (first, *others)


def _has_domain(attribute: Attribute, query: SpjQuery, catalog: Catalog) -> bool:
    """Whether it is declared which values a column may have, or how many."""
    table = catalog.table(next(o.table for o in query.occurrences if o.alias == attribute.alias))
    column = table.column(attribute.column)
    if column is None or isinstance(table, Relation) or isinstance(column.type, BooleanType):
        return True
    assert isinstance(table, Stream)
    ranged = column.minimum is not None and column.maximum is not None
    if column.enum is not None or (ranged and not isinstance(column.type, FloatType)):
        return True
    return any(reference.columns == (column.name,) for reference in table.references)
