"""The answer variables of a match: its terms, its times, and buckets of times."""

from collections.abc import Sequence

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog, FloatType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.algebra.equality_classes import Types, map_output
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.query import ConjunctiveQuery, NamedBuckets, Variable
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput, Output, output_attributes
from ontoweir.rewriter.unfold.match_atoms import Match
from ontoweir.rewriter.unfold.translate_filters import term_output
from ontoweir.rewriter.unfold.translate_times import (
    MOMENT,
    find_moment,
    find_time,
    is_beside_value,
)


def list_moments(
    ucq: Sequence[ConjunctiveQuery], matches: Sequence[Sequence[Match]], catalog: Catalog
) -> tuple[NamedBuckets, ...]:
    """The columns of times that answers are made of where mappings make their terms of timestamps,
    and of those that are compared with values.

    Raises:
        QueryError: groups that such a term tells apart, of what ignores how often a match comes.
    """
    shown = _list_shown(ucq, matches, catalog)
    return tuple(dict.fromkeys((*shown, *_list_compared(ucq, matches, catalog))))


def _list_shown(
    ucq: Sequence[ConjunctiveQuery], matches: Sequence[Sequence[Match]], catalog: Catalog
) -> tuple[NamedBuckets, ...]:
    """The column of times that answers are made of.

    Raises:
        QueryError: groups that such a term tells apart, of what ignores how often a match comes.
    """
    for query, found in zip(ucq, matches, strict=True):
        for match in found:
            types = Types(catalog, match.occurrences)
            for variable in query.head:
                output = match.bindings.get(variable)
                if output is None or not _times_of(output, types):
                    continue
                grouped = query.aggregation is not None and variable.name in query.aggregation.group
                if grouped and query.distinct:
                    raise QueryError(
                        f"GROUP BY ?{variable.name}, which a mapping makes of a stream's timestamp",
                        why="MIN, MAX and COUNT(DISTINCT …) alone are of a set, and a group of a "
                        "time is closed when it is over",
                        fix="put the patterns into GRAPH ?t { … } and group by ?t, or select "
                        "COUNT(*) too",
                        source=query.source,
                    )
                return (MOMENT,)
    return ()


def _list_compared(
    ucq: Sequence[ConjunctiveQuery], matches: Sequence[Sequence[Match]], catalog: Catalog
) -> tuple[NamedBuckets, ...]:
    """The columns of times that are compared with values."""
    made: dict[NamedBuckets, None] = {}
    for query, found in zip(ucq, matches, strict=True):
        filters = (*query.filters, *(f for c in query.choices for case in c.cases for f in case))
        for match in found:
            types = Types(catalog, match.occurrences)
            for f in filters:
                if is_beside_value(f, match.bindings, match.times, types):
                    made[find_moment(f, match.bindings, match.times, types)] = None
    return tuple(made)


def make_outputs(
    query: ConjunctiveQuery, match: Match, catalog: Catalog
) -> tuple[tuple[str, Output], ...]:
    """The answer variables of a match, buckets aside.

    Raises:
        QueryError: one has no value, or is a text made from a double.
    """
    types = Types(catalog, match.occurrences)
    outputs: list[tuple[str, Output]] = []
    fixed = dict(query.constants)
    for variable in query.head:
        if variable in fixed:
            outputs.append((variable.name, term_output(fixed[variable])))
            continue
        output = match.bindings.get(variable)
        if output is None:
            raise QueryError(
                f"?{variable.name} is selected but occurs in no pattern",
                why="it would have no value",
                fix=f"remove ?{variable.name} from SELECT",
                source=query.source,
            )
        if not isinstance(output, LiteralOutput):
            _refuse_float_texts(variable, output, types, query.source)
        outputs.append((variable.name, _show_times(output, types)))
    return tuple(outputs)


def make_buckets(
    query: ConjunctiveQuery, match: Match, catalog: Catalog
) -> tuple[tuple[str, LiteralOutput], ...]:
    """The buckets of times that the query groups by, or shows.

    Raises:
        QueryError: one is of what is no time.
    """
    types = Types(catalog, match.occurrences)
    made = []
    for named in query.buckets:
        time = find_time(named.time, match.bindings, match.times, types, query.source)
        column = Attribute(time.alias, make_column(named.bucket).name)
        made.append((named.name, LiteralOutput(column, f"{XSD}dateTime")))
    return tuple(made)


def _times_of(output: Output, types: Types) -> tuple[Attribute, ...]:
    """The timestamps of streams that a term is made from."""
    return tuple(a for a in output_attributes(output) if types.step_of(a) is not None)


def _show_times(output: Output, types: Types) -> Output:
    """A term in which timestamps of streams are columns with their values."""
    shown = make_column(MOMENT.bucket).name
    times = {a: Attribute(a.alias, shown) for a in _times_of(output, types)}
    return map_output(output, lambda a: times.get(a, a)) if times else output


def _refuse_float_texts(
    variable: Variable, output: Output, types: Types, source: Source | None
) -> None:
    """Raises for an answer that is a text made from a double, which SQL and RDF write otherwise
    (1.0E-7 in one, 0.0000001 in the other). Joined and compared it is exact.

    Raises:
        QueryError: as said.
    """
    for attribute in output_attributes(output):
        if isinstance(types.type_of(attribute), FloatType):
            raise QueryError(
                f"?{variable.name} is a text made from {attribute}, a double",
                why="SQL and RDF write doubles differently, so terms would not be the same",
                fix=f"declare {attribute.column} as decimal(p,s) or string, or do not select "
                f"?{variable.name}",
                source=source,
            )
