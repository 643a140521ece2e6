"""Whether a triple of a stream, which holds from its time on, comes at one time only."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.assertion import MappingAssertion, term_columns
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.model.spj import Compare, Op
from ontoweir.rewriter.passes.derive_equalities import derive_equalities
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.views.equate_triples import equate_triples


def hold_once(
    assertions: Sequence[MappingAssertion],
    catalog: Catalog,
    place: Source | None,
    *,
    windowed: bool = False,
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The keys (stream, columns) of whole streams by which no triple comes at two times; none where
    its terms have its time in them.

    Args:
        assertions: of one predicate, over streams.
        catalog: the streams.
        place: of the pattern, for the error.
        windowed: the pattern is of a window of RSP-QL, whose graph is a set.

    Raises:
        QueryError: a triple may come again at another time. It counts once: all would have to be
            remembered.
    """
    keys: dict[tuple[str, tuple[str, ...]], None] = {}
    for n, first in enumerate(assertions):
        for second in assertions[n:]:
            equal = equate_triples(first, second, catalog)
            if equal is None:
                continue
            one, other = equal.times
            assert one is not None
            assert other is not None
            for left, right in ((one, other), (other, one))[: 1 + (first is not second)]:
                later = Compare(left, Op.LT, right)
                apart = replace(equal.query, conditions=(*equal.query.conditions, later))
                for change in (propagate_equalities, derive_equalities, remove_self_joins):
                    apart = change(apart, catalog)
                if not equal.same_steps or find_contradiction(apart, catalog) is None:
                    raise _refuse(first, second, catalog, place, windowed=windowed)
                keys.update(dict.fromkeys(apart.merged))
    return tuple(keys)


_INSTEAD = (
    ", and beside NOT EXISTS, OPTIONAL, windows and groups SELECT DISTINCT of the pattern alone, "
    "{ SELECT DISTINCT ?x { ?x a :C } }; or put the pattern into GRAPH ?t { … }, where each time "
    "counts"
)


def _refuse(
    first: MappingAssertion,
    second: MappingAssertion,
    catalog: Catalog,
    place: Source | None,
    *,
    windowed: bool,
) -> QueryError:
    stream = next(t.table for t in first.source.tables if t.alias == first.stream_alias)
    timestamp = catalog.streams[stream].timestamp
    columns = [
        c.column
        for c in dict.fromkeys((*term_columns(first.subject), *term_columns(first.object)))
        if c.alias == first.stream_alias and c.column != timestamp
    ]
    key = ", ".join(f'"{c}"' for c in dict.fromkeys(columns))
    declare = f"; or declare a key of the whole stream, keys = [[{key}]] of {stream}, if it is one"
    return QueryError(
        f"{first.predicate} is counted {'in a window' if windowed else 'outside GRAPH'}",
        why=(
            "its graph is a set, in which a triple counts once, and "
            if windowed
            else "there a triple holds from its time on and counts once, and "
        )
        + (
            f"the same may come again later (mapping {first.shown}, {first.place})"
            if first is second
            else f"{first.shown} ({first.place}) and {second.shown} ({second.place}) may make the "
            "same at two times"
        ),
        fix="write SELECT DISTINCT"
        + ("" if windowed else _INSTEAD)
        + (declare if key and first is second else ""),
        source=place,
    )
