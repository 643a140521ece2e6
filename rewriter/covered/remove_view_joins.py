"""Removes joins with views of triples that are sure to be met."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    Types,
    map_condition,
    map_output,
)
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
    View,
    ViewBranch,
)
from ontoweir.rewriter.views.expand_views import expand_wholly, query_attributes

MAX_CHOICES = 200
"""Of a query whose other views have more choices of branches than these no join is removed."""


def remove_view_joins(query: SpjQuery, views: Sequence[View], catalog: Catalog) -> SpjQuery:
    """The query without each occurrence of a set of triples whose row is always there.

    `?a a :Alarm ; :severity ?s`: by the range of another property, alarms have a second mapping,
    and are the union of two; a row that makes `:severity` makes the alarm as well.

    Keeps multiplicities: a distinct view has at most one row with given columns and timestamp, and
    one where the rest of the query is contained in a branch of it (containment by a homomorphism,
    [CM]; where the rest reads views, each choice of their branches in some branch).

    Args:
        query: over the tables of `catalog`, views among them.
        views: all that it may read.
    """
    known = {view.name: view for view in views if view.distinct and not view.without}
    for occurrence in reversed(query.occurrences):
        view = known.get(occurrence.table)
        if view is None or len(query.occurrences) < 2:
            continue
        rest = _leave_out(query, occurrence, view, catalog)
        if rest is not None and _is_met(rest, view, views, catalog):
            query = replace(rest, outputs=rest.outputs[: len(query.outputs)])
    return query


def _leave_out(
    query: SpjQuery, occurrence: Occurrence, view: View, catalog: Catalog
) -> SpjQuery | None:
    """The rest of a query, in whose attributes the columns of the view's row are: as more outputs,
    in their order, its timestamp behind them; None where one of them is in no other row."""
    classes = EqualityClasses(query.occurrences, query.conditions)
    types = Types(catalog, query.occurrences)
    equal: dict[Attribute, list[Attribute]] = {}
    for first, others in classes.members():
        for member in (first, *others):
            equal[member] = [a for a in (first, *others) if a.alias != occurrence.alias]
    names = [column.name for column in view.table.columns]
    if isinstance(view.table, Stream):
        names.append(view.table.timestamp)
    partners: dict[Attribute, Attribute] = {}
    for name in names:
        own = Attribute(occurrence.alias, name)
        for other in equal.get(own, ()):
            alike = types.type_of(other) == types.type_of(own)
            if alike and types.step_of(other) == types.step_of(own):
                partners[own] = other
                break
        else:
            return None
    moved = dict(partners)
    for asked in query_attributes(query):
        if asked.alias != occurrence.alias or asked in moved:
            continue
        if not isinstance(view.table, Stream) or not is_bucket(asked.column):
            return None  # derived from the view's columns
        time = partners[Attribute(occurrence.alias, view.table.timestamp)]
        moved[asked] = Attribute(time.alias, asked.column)  # all streams call them the same

    def change(attribute: Attribute) -> Attribute:
        return moved.get(attribute, attribute)

    there = [NotNull(a) for a in dict.fromkeys(partners.values()) if types.step_of(a) is None]
    changed = (map_condition(c, change) for c in query.conditions)
    conditions = chain((c for c in changed if not _says_itself(c)), there)
    return replace(
        query,
        occurrences=tuple(o for o in query.occurrences if o != occurrence),
        conditions=tuple(dict.fromkeys(conditions)),
        outputs=(
            *((name, map_output(output, change)) for name, output in query.outputs),
            *((f"c{n}", LiteralOutput(a)) for n, a in enumerate(partners.values())),
        ),
        provenance=tuple((alias, p) for alias, p in query.provenance if alias != occurrence.alias),
    )


def _says_itself(condition: Condition) -> bool:
    """Whether it says `x = x`, which is that x is not NULL."""
    match condition:
        case Compare(left=left, op=Op.EQ, right=right, offset=0):
            return left == right
        case _:
            return False


def _is_met(rest: SpjQuery, view: View, views: Sequence[View], catalog: Catalog) -> bool:
    """Whether each row of the rest of a query has one of the view, whose columns are the last
    outputs of the rest."""
    count = len(view.table.columns) + isinstance(view.table, Stream)
    asked = replace(rest, outputs=rest.outputs[len(rest.outputs) - count :], provenance=())
    choices = expand_wholly(asked, views, MAX_CHOICES)
    listed = [made for made in map(_list_columns, view.branches) if made is not None]
    # a branch of static relations alone has no time: it is beside those of the view's rows
    wanted = [made for made in listed if len(made.outputs) == count]
    return choices is not None and all(
        any(_is_within(choice, branch, catalog) for branch in wanted) for choice in choices
    )


def _list_columns(branch: ViewBranch) -> SpjQuery | None:
    """A branch with the view's columns, and its timestamp, as outputs; None where one of them is no
    column of a table."""
    columns = [*branch.columns, *(() if branch.time is None else (branch.time,))]
    own = [column for column in columns if isinstance(column, Attribute)]
    if len(own) < len(columns):
        return None
    outputs = tuple((f"c{n}", LiteralOutput(a)) for n, a in enumerate(own))
    return SpjQuery(branch.occurrences, branch.conditions, outputs)


def _is_within(small: SpjQuery, big: SpjQuery, catalog: Catalog) -> bool:
    try:
        return is_contained(small, big, catalog)
    except QueryError:  # the search took too many steps
        return False
