"""Members: a stream occurrence with its local conditions and the statics folded into it."""

from collections.abc import Mapping
from typing import assert_never

from ontoweir.checker.model.constraint_graph import ConstraintGraph
from ontoweir.checker.model.difference_bounds import DifferenceBounds
from ontoweir.checker.model.normal_form import Member
from ontoweir.checker.sizes.limit_rows import limit_rows
from ontoweir.rewriter.model.spj import Compare, Condition, Constant, IsNull, NotNull, OneOf


def fold_members(
    work: ConstraintGraph,
    owner: Mapping[str, int],
    bounds: DifferenceBounds,
    times: DifferenceBounds,
) -> tuple[Member, ...]:
    """The members of a disjunct: its streams, each with the statics that `owner` folds into it.

    Args:
        work: the disjunct as nodes.
        owner: the member of every alias.
        bounds: the limits on values.
        times: the limits on timestamps.
    """
    members = []
    for index, occurrence in enumerate(work.streams):
        local: list[Condition] = []
        for condition in work.query.conditions:
            match condition:
                case (
                    NotNull(attribute=attribute)
                    | OneOf(attribute=attribute)
                    | IsNull(attribute=attribute)
                ):
                    if owner[attribute.alias] == index:
                        local.append(condition)
                case Compare(left=left, right=right):
                    inside = owner[left.alias] == index and (
                        isinstance(right, Constant) or owner[right.alias] == index
                    )
                    if inside and (work.timed or not work.is_time(left)):
                        local.append(condition)
                case _:
                    assert_never(condition)
        last, first = times.limit(index + 1, 0), times.limit(0, index + 1)
        members.append(
            Member(
                index=index,
                alias=occurrence.alias,
                stream=occurrence.table,
                statics=tuple(
                    o
                    for o in work.query.occurrences
                    if owner[o.alias] == index and o.alias != occurrence.alias
                ),
                local=tuple(local),
                first=None if first is None else -int(first.value),
                last=None if last is None else int(last.value),
                total=limit_rows(work, occurrence, bounds),
                spacing=work.catalog.streams[occurrence.table].spacing,
                rate=work.catalog.streams[occurrence.table].max_per_timestamp,
            )
        )
    return tuple(members)


def find_lags(times: DifferenceBounds, count: int) -> tuple[tuple[int | None, ...], ...]:
    """lag(i→j) = sup(t_j - t_i); limits through constants count too."""
    rows = []
    for i in range(count):
        row: list[int | None] = []
        for j in range(count):
            limit = times.limit(j + 1, i + 1)
            row.append(None if limit is None else int(limit.value))
        rows.append(tuple(row))
    return tuple(rows)
