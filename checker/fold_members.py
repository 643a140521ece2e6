"""Members: a stream occurrence with its local conditions and the statics folded into it."""

from collections.abc import Mapping
from typing import assert_never

from ontoweir.checker.difference_bounds import DifferenceBounds
from ontoweir.checker.normal_form import Member, ValueClass
from ontoweir.checker.query_nodes import QueryNodes
from ontoweir.rewriter.spj import Attribute, Compare, Constant, NotNull, Occurrence


def fold_members(
    work: QueryNodes, owner: Mapping[str, int], times: DifferenceBounds
) -> tuple[Member, ...]:
    members = []
    for index, occurrence in enumerate(work.streams):
        local: list[Compare | NotNull] = []
        for condition in work.query.conditions:
            match condition:
                case NotNull(attribute=attribute):
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
            )
        )
    return tuple(members)


def bound_fanout(
    work: QueryNodes,
    owner: Mapping[str, int],
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> dict[str, int | None]:
    """One, for a static occurrence joined by a whole key to what is there; else its size."""
    statics = [o for o in work.query.occurrences if o.table in work.catalog.relations]
    there = {o.alias for o in work.streams}
    found: dict[str, int | None] = {}

    def is_keyed(occurrence: Occurrence) -> bool:
        relation = work.catalog.relations[occurrence.table]
        for key in relation.keys:
            attributes = [Attribute(occurrence.alias, column) for column in key]
            if all(
                a in class_of
                and any(
                    other.alias in there and owner[other.alias] == owner[a.alias]
                    for other, _ in classes[class_of[a]].attributes
                )
                for a in attributes
            ):
                return True
        return False

    waiting = list(statics)
    while waiting:
        occurrence = next((o for o in waiting if is_keyed(o)), None)
        if occurrence is not None:
            found[occurrence.alias] = 1
        else:
            occurrence = waiting[0]
            relation = work.catalog.relations[occurrence.table]
            found[occurrence.alias] = work.statistics.rows.get(relation.name, relation.max_rows)
        there.add(occurrence.alias)
        waiting.remove(occurrence)
    return found


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
