"""[S] preprocessing, steps 1-3: split `<=` and `≠` of timestamps, merge equal ones, find finite
streams; the result is a union of queries whose timestamps are compared by < alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ontoweir.checker.model.difference_bounds import DifferenceBounds, Limit
from ontoweir.checker.model.normal_form import NormalForm

MAX_PARTS = 1_000
"""A query whose timestamps split into more parts is not split."""


class Ordering(NamedTuple):
    """Members `low` and `high` come in this order; at one time, unless it is `strict`."""

    low: int
    high: int
    strict: bool


Choice: TypeAlias = tuple[Ordering, Ordering]
"""Two ways, one of which holds."""


@dataclass(frozen=True, slots=True)
class TimeOrder:
    """One part: groups of members with equal timestamps; `before` pairs (earlier, later) of
    infinite groups, transitively closed; `finite` groups have an upper limit in time."""

    groups: tuple[frozenset[int], ...]
    before: frozenset[tuple[int, int]]
    finite: frozenset[int]

    def group_of(self, member: int) -> int:
        """The index in `groups` of a member's group."""
        return next(i for i, g in enumerate(self.groups) if member in g)

    def reduction(self) -> tuple[tuple[int, int], ...]:
        """The transitive reduction of the dependency graph: edges (parent, child), the parent
        the later one, sorted."""
        return tuple(
            sorted(
                (later, earlier)
                for earlier, later in self.before
                if not any(
                    (earlier, between) in self.before and (between, later) in self.before
                    for between in range(len(self.groups))
                )
            )
        )


def split_times(form: NormalForm) -> tuple[TimeOrder, ...] | None:
    """All parts of a disjunct without time differences (see drop_windows); None: there are more
    than MAX_PARTS."""
    n = len(form.members)
    base = DifferenceBounds([1] * (n + 1))
    choices: list[Choice] = []
    for t in form.times:
        if t.steps < 0:
            base.add(t.later + 1, t.earlier + 1, Limit(-1))
        elif t.steps == 0:
            choices.append(
                (Ordering(t.later, t.earlier, True), Ordering(t.later, t.earlier, False))
            )
    for d in form.time_differences:
        if d.steps == 0:
            choices.append((Ordering(d.left, d.right, True), Ordering(d.right, d.left, True)))
    for m in form.members:
        if m.last is not None:
            base.add(m.index + 1, 0, Limit(m.last))
        if m.first is not None:
            base.add(0, m.index + 1, Limit(-m.first))
    parts: dict[TimeOrder, None] = {}
    return tuple(parts) if _split(base, choices, n, parts) else None


def _split(
    bounds: DifferenceBounds, choices: Sequence[Choice], n: int, parts: dict[TimeOrder, None]
) -> bool:
    """Add what remains to be chosen, way by way; False: there are too many parts."""
    if not bounds.satisfiable:
        return True
    if not choices:
        parts[_order(bounds, n)] = None
        return len(parts) <= MAX_PARTS
    for low, high, strict in choices[0]:
        chosen = bounds.copy()
        chosen.add(low + 1, high + 1, Limit(-1 if strict else 0))
        if not strict:
            chosen.add(high + 1, low + 1, Limit(0))
        if not _split(chosen, choices[1:], n, parts):
            return False
    return True


def _order(bounds: DifferenceBounds, n: int) -> TimeOrder:
    groups: list[set[int]] = []
    for i in range(n):
        for group in groups:
            j = min(group)
            if bounds.implies(i + 1, j + 1, Limit(0)) and bounds.implies(j + 1, i + 1, Limit(0)):
                group.add(i)
                break
        else:
            groups.append({i})
    finite = frozenset(k for k, g in enumerate(groups) if bounds.limit(min(g) + 1, 0) is not None)
    before = frozenset(
        (a, b)
        for a, g in enumerate(groups)
        for b, h in enumerate(groups)
        if a != b
        and a not in finite
        and b not in finite
        and bounds.implies(min(g) + 1, min(h) + 1, Limit(-1))
    )
    return TimeOrder(tuple(map(frozenset, groups)), before, finite)
