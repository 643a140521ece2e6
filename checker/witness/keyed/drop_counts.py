"""Counts, and first ones, of rows that are told of each key by itself."""

from dataclasses import dataclass, replace

from ontoweir.rewriter.model.aggregation import AggregateFunction, Aggregation
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.model.spj import SpjUnion

_ADD = (AggregateFunction.COUNT, AggregateFunction.SUM)
_BESIDE = (AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.AVG)
"""Beside COUNT(*): where it stays, these change with a row for any number of others that are alike,
or for none."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows that are counted, or added up, in groups at last. `rows`: the query of them; `columns`:
    by which the groups are told apart; `mixed`: whether a row may leave its group as it was, since
    there are others in it (extremes and means, not beside a count); `compared`: of what there are
    extremes and means."""

    rows: SpjUnion
    columns: tuple[str, ...]
    mixed: bool
    compared: tuple[str, ...]


def drop_counts(union: SpjUnion) -> Counts | None:
    """The rows that a query counts, or adds up, in groups at last (None: it does something else at
    last, or does not show what tells the groups apart).

    Which of the groups change with a row does not depend on what else is in them, if they are not
    mixed. Where nothing is grouped there is one, and no column.

    Args:
        union: the query.
    """
    joined, standing, groups = union.joined, union.standing, union.aggregation
    if joined is not None:
        if joined.row is None or joined.row.groups is None or joined.numbered is not None:
            return None
        outer, row = joined.row.groups, replace(joined.row, groups=None)
        parts = tuple(part for part in joined.parts if part.kind is not JoinKind.BEGUN)
        made = replace(union, joined=replace(joined, parts=parts, row=row))
    elif standing is not None:
        if standing.groups is None or standing.distinct:
            return None
        outer = standing.groups
        made = replace(union, standing=replace(standing, groups=None, hidden=()))
    elif groups is not None and groups.around is not None and groups.numbered is None:
        outer = groups.around
        columns = tuple(dict.fromkeys((*groups.columns, *groups.group)))
        made = replace(union, aggregation=replace(groups, around=None, columns=columns))
    else:
        return None
    if not _only_adds(outer):
        return None
    compared = (a.argument for a in outer.aggregates if a.function in _BESIDE and a.argument)
    return Counts(made, outer.group, _is_mixed(outer), tuple(dict.fromkeys(compared)))


def drop_numbers(union: SpjUnion) -> tuple[SpjUnion, int] | None:
    """The query of all groups, or joined rows, of which the first of all are told; and how many
    these are (None: it tells others).

    Args:
        union: the query.
    """
    joined, groups = union.joined, union.aggregation
    if joined is not None and joined.numbered is not None:
        numbered, made = joined.numbered, replace(union, joined=replace(joined, numbered=None))
    elif joined is None and groups is not None and groups.numbered is not None:
        columns = tuple(dict.fromkeys((*groups.columns, *groups.group)))
        whole = replace(groups, numbered=None, columns=columns)
        numbered, made = groups.numbered, replace(union, aggregation=whole)
    else:
        return None
    return None if numbered.key or numbered.first.least > 1 else (made, numbered.first.limit)


def _only_adds(groups: Aggregation) -> bool:
    """Whether groups are told as they are, with counts, sums, extremes and means, and what tells
    them apart."""
    changes = groups.panes or groups.session_us or groups.around or groups.numbered
    if changes is not None or not groups.shows_rows:
        return False
    shown = {*groups.group} <= {*groups.columns}
    return shown and all(a.function in (*_ADD, *_BESIDE) for a in groups.aggregates)


def _is_mixed(groups: Aggregation) -> bool:
    counts = (a.function is AggregateFunction.COUNT and not a.argument for a in groups.aggregates)
    return not any(counts) and any(a.function in _BESIDE for a in groups.aggregates)
