"""Prints a union of SPJ queries as SQL that runs in Spark and in DuckDB."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.print_spj import first_axioms
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import (
    LiteralOutput,
    NullOutput,
    Provenance,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.sql.print_aggregation import (
    aggregate_matches,
    can_group,
    print_groups,
)
from ontoweir.rewriter.sql.print_condition import needs_quotes, print_output
from ontoweir.rewriter.sql.print_select import name_column, print_select
from ontoweir.rewriter.sql.print_views import print_blocks, print_statics, print_views
from ontoweir.rewriter.sql.shorten_aliases import shorten_aliases
from ontoweir.rewriter.sql.unite_filters import Selection, unite_filters
from ontoweir.rewriter.views.moments import EVERY_TIME

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class _Style:
    dialect: str
    comments: bool
    short: bool


def print_sql(
    union: SpjUnion,
    catalog: Catalog,
    *,
    dialect: str = "spark",
    comments: bool = True,
    short: bool = True,
) -> str:
    """Readable SQL over tables named as in the catalog, their timestamp columns TIMESTAMP.

    Time constants are UTC: run it with the session time zone UTC.

    Steps become intervals. IRIs are plain CONCATs: percent-encoding the values of string columns
    is left to the consumer (the run-time does it); a value without reserved characters needs
    none. The declared domains of streams' columns are filters, as ingestion rejects what is
    outside them (list_domains). Where the disjuncts make a variable of different SQL types, all
    are cast to strings. Disjuncts that differ in the filters of one occurrence are one SELECT.

    Args:
        union: what to print; no disjunct gives a SELECT without rows.
        catalog: its tables.
        dialect: a dialect of sqlglot.
        comments: name the mappings and axioms above every SELECT, by its aliases and, where these
            are short, by the names that explanations have.
        short: short aliases; else those of explanations, for where no comment tells them.
    """
    catalog = extend_catalog(catalog, union)
    _refuse_changing(union)
    if union.statics:
        rest = replace(union, statics=())
        whole = print_sql(rest, catalog, dialect=dialect, comments=comments, short=short)
        return print_statics(union.statics, dialect=dialect, before=whole)
    if union.blocks:
        before = print_blocks(
            union,
            lambda inner: print_sql(
                inner, catalog, dialect=dialect, comments=comments, short=short
            ),
            dialect=dialect,
        )
        rest = replace(union, blocks=())
        after = print_sql(rest, catalog, dialect=dialect, comments=comments, short=short)
        return before.rstrip() + f",\n{after[5:]}" if union.views else before + after
    if union.views:
        rest = replace(union, views=())
        return print_views(union.views, catalog, dialect=dialect, comments=comments) + print_sql(
            rest, catalog, dialect=dialect, comments=comments, short=short
        )
    selections = unite_filters(union.disjuncts, catalog, distinct=union.distinct)
    made = union.aggregation
    if made is not None and len(selections) == 1 and not made.panes and not union.ends:
        (one,) = selections
        if can_group(one.query, made):
            header = _comments(one.query, 1, 1) if comments else ""
            return header + print_groups(one, made, catalog, dialect=dialect, short=short)
    matches = _print_matches(union, selections, catalog, _Style(dialect, comments, short))
    if union.aggregation is None:
        return matches
    return aggregate_matches(matches, union.aggregation, union.ends, union.begins, dialect=dialect)


def _print_matches(
    union: SpjUnion, selections: list[Selection], catalog: Catalog, style: _Style
) -> str:
    if not union.disjuncts:
        return _print_empty(union, style.dialect, style.comments)
    mixed = _mixed_variables(union, catalog)
    if union.aggregation is not None:  # numbers of several types are added up as numbers
        mixed -= {a.argument for a in union.aggregation.aggregates if _takes_numbers(a)}
    selects = []
    for number, made in enumerate(selections, start=1):
        tree = print_select(
            made,
            _columns(made.query, catalog, mixed),
            catalog,
            distinct=union.distinct,
            dialect=style.dialect,
            short=style.short,
        )
        text = tree.sql(dialect=style.dialect, pretty=True, copy=False)
        header = _comments(made.query, number, len(selections)) if style.comments else ""
        selects.append(header + text)
    return ("\nUNION\n" if union.distinct else "\nUNION ALL\n").join(selects)


def _print_empty(union: SpjUnion, dialect: str, comments: bool) -> str:
    from sqlglot import exp

    aggregates = () if union.aggregation is None else union.aggregation.aggregates
    numbers = {a.argument for a in aggregates if _takes_numbers(a)}
    columns: list[exp.Expr] = [
        exp.alias_(
            exp.cast(exp.Null(), "bigint" if v in numbers else "string"),
            v,
            quoted=needs_quotes(v),
        )
        for v in union.variables
    ] or [exp.alias_(exp.Literal.number(1), "matched")]
    text = exp.select(*columns).where(exp.false()).sql(dialect=dialect, pretty=True)
    return f"-- no disjunct: nothing can match\n{text}" if comments else text


def _comments(query: SpjQuery, number: int, total: int) -> str:
    lines = [f"-- disjunct {number} of {total}"] if total > 1 else []
    short = shorten_aliases(query.occurrences)
    for alias, origin in query.provenance:
        name = short.get(alias) or alias
        shown = alias if name == alias else f"{name} ({alias})"
        lines.append(f"-- {shown}: {_origin(origin)}" if alias else f"-- {_fact(origin)}")
    return "".join(" ".join(line.split()) + "\n" for line in dict.fromkeys(lines))


def _origin(origin: Provenance) -> str:
    if origin.mapping == EVERY_TIME:
        return EVERY_TIME
    place = f" ({origin.mapping_source})" if origin.mapping_source is not None else ""
    axioms = "; ".join(first_axioms(origin.axioms))
    more = f" and {len(origin.others)} more" if origin.others else ""
    return f"mapping {origin.mapping}{place}{more}" + (f", by {axioms}" if axioms else "")


def _fact(origin: Provenance) -> str:
    return _origin(origin).replace("mapping ", "fact ", 1)


def _takes_numbers(aggregate: Aggregate) -> bool:
    counts = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
    return aggregate.function not in counts


def _mixed_variables(union: SpjUnion, catalog: Catalog) -> frozenset[str]:
    kinds: dict[str, set[object]] = {}
    for query in union.disjuncts:
        types = Types(catalog, query.occurrences)
        for name, output in query.outputs:
            if isinstance(output, LiteralOutput | NullOutput):
                kinds.setdefault(name, set()).add(types.type_of(output.value))
            else:
                kinds.setdefault(name, set()).add("text")
    return frozenset(name for name, families in kinds.items() if len(families) > 1)


def _columns(query: SpjQuery, catalog: Catalog, mixed: frozenset[str]) -> list[exp.Expr]:
    from sqlglot import exp

    types = Types(catalog, query.occurrences)
    columns: list[exp.Expr] = []
    for name, output in query.outputs:
        value = print_output(output, types)
        if name in mixed and isinstance(output, LiteralOutput | NullOutput):
            value = exp.cast(value, "string")
        columns.append(name_column(value, name))
    return columns


def _refuse_changing(union: SpjUnion) -> None:
    """Raise QueryError for what no SELECT over the tables says."""
    aggregation = union.aggregation
    said: tuple[str, str] | None = None
    if union.standing is not None:
        said = "whose rows hold until later ones end them", "all rows, of which later ones end some"
    elif union.joined is not None:
        said = "joined of rows that come and go", "the rows of its parts"
    elif aggregation is not None and aggregation.numbered is not None:
        said = "of whose groups the first are told", "all groups, numbered as they change"
    elif aggregation is not None and aggregation.around is not None:
        said = "whose groups are of rows that come and go", "what these rows are made of"
    if said is not None:
        raise QueryError(
            f"{union.name}, {said[0]}, is not printed as SQL",
            why=f"its plan is that of {said[1]}",
            fix="look at it with --show plan",
            source=union.source,
        )
    if aggregation is not None and aggregation.session_us is not None:
        raise QueryError(
            f"{union.name}, whose groups are of sessions, is not printed as SQL",
            why="not every SQL has sessions",
            fix="look at it with --show plan",
            source=union.source,
        )
