"""What must not match later than a solution."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types, map_condition
from ontoweir.rewriter.before.split_row import list_determined, split_row, stamp_of
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
)


@dataclass(frozen=True, slots=True)
class Later:
    """A row that must not be beside a solution, and what is said of it."""

    row: Occurrence
    conditions: tuple[Condition, ...]

    def beside(self, query: SpjQuery, keys: Sequence[str]) -> SpjQuery:
        """The solutions beside which there is such a row, by their keys."""
        shown = dict(query.outputs)
        return replace(
            query,
            occurrences=(*query.occurrences, self.row),
            conditions=(*query.conditions, *self.conditions),
            outputs=tuple((n, shown[n]) for n in keys),
            provenance=(),
        )


def read_later(
    found: SpjQuery,
    hits: SpjQuery,
    keys: Sequence[str],
    times: Sequence[str],
    catalog: Catalog,
    without: Container[str],
) -> Later | None:
    """The row that must not be there later than a solution (None: it is something else).

    Args:
        found: the solutions.
        hits: the solutions, and what must not be beside them, with the same keys.
        keys: the answer variables that both share.
        times: those that are times of rows.
        catalog: the tables of both.
        without: the aliases of rows of a solution by which it must not be told.
    """
    mine, theirs = dict(found.outputs), dict(hits.outputs)
    stamps = {stamp_of(theirs[n], hits, catalog): n for n in keys if n in times}
    determined = list_determined(theirs, mine, Types(catalog, found.occurrences))
    classes = EqualityClasses(found.occurrences, found.conditions)
    taken = {o.alias for o in found.occurrences}
    alias = next(n for k in range(len(taken) + 1) if (n := f"later {k}") not in taken)
    for own in hits.occurrences:
        stream = catalog.streams.get(own.table)
        said = None if stream is None else split_row(hits, own, catalog)
        if stream is None or said is None or len(said[2]) != 1:
            continue
        columns, only, ((op, after),) = said
        if op not in (Op.GT, Op.GE) or after not in stamps:
            continue
        time = stamp_of(mine[stamps[after]], found, catalog)
        if time is None or time.alias in without:
            continue
        conditions: list[Condition] = [
            Compare(Attribute(alias, stream.timestamp), op, time),
            *(map_condition(c, lambda a: replace(a, alias=alias)) for c in only),
        ]
        for column, outer in columns:
            of, _ = determined.get(outer, (None, ""))
            same = [] if of is None else [of, *_list_equal(of, classes)]
            other = next((a for a in same if a.alias not in without), None)
            if other is None:
                return None
            here = Attribute(alias, column)
            conditions += [Compare(here, Op.EQ, other), NotNull(here)]
        later = Later(Occurrence(alias, own.table), tuple(conditions))
        shown = replace(hits, outputs=tuple((n, theirs[n]) for n in keys), provenance=())
        if columns and is_contained(later.beside(found, keys), shown, catalog):
            return later
    return None


def _list_equal(attribute: Attribute, classes: EqualityClasses) -> list[Attribute]:
    return [a for c in classes.members() for a in (c[0], *c[1]) if classes.same(a, attribute)]
