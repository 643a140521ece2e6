"""How many Pareto-minimal frontier values one key of a table can have (theory §7, 8).

Two matches with one key can be mixed: what serves one frontier value from the one, what serves
another from the other. A *cluster* is members within windows of one another. By the pair criterion
the clusters that serve different values are not comparable: no limit relates their timestamps,
either way, through others neither. Of the other clusters those between two that serve one value
go with it; of those after one that serves, the mixture takes the later, of the rest the earlier.
That keeps every limit, so there is one entry. (Those that nothing relates to more than one side go
with it, too.) Four things can stand against it, and are counted:

- values that clusters share, or compare, inside the table: one entry for each choice;
- a chosen cluster of several members: of two such clusters each can be later in one member. Those
  further than its windows before the latest are no better than it; of the others, one entry for
  each pattern of their timestamps;
- `≠` between timestamps of clusters that serve different values: the best of one may be excluded
  by the other's;
- `≠` with a chosen cluster: one of as many more avoids all that it must differ from.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from math import perm

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Frontier, Key
from ontoweir.checker.plans.coarsen_key import coarsen_key
from ontoweir.checker.sizes.size_key import Factor, size_key

_UNKNOWN = Factor(None, "front")


def bound_frontier(
    form: NormalForm, members: frozenset[int], frontier: Sequence[Frontier], keyed: set[int]
) -> list[Factor]:
    """Factors whose product bounds the entries of one key.

    Args:
        form: the disjunct, which meets the pair criterion.
        members: what the table joins.
        frontier: its frontier values, more than one.
        keyed: the classes that are in the key.
    """
    lag = _inside_lags(form, members)
    clusters = _clusters(lag, members)
    serving = [
        {c for c in clusters for t in f.terms if c & form.classes[t.value].members}
        for f in frontier
    ]
    sides: dict[frozenset[int], set[int]] = {
        c: {side for side, those in enumerate(serving) if _serves(lag, c, those)} for c in clusters
    }
    if any(
        a is not b and _comparable(lag, a, b)
        for one, other in combinations(serving, 2)
        for a in one
        for b in other
    ) or any(len(sides[c]) > 1 for c in clusters):
        return [_UNKNOWN]
    _settle_others(form, sides)
    factors = [*_ties(form, sides, keyed)]
    conflicts = [0] * len(frontier)
    avoids = dict.fromkeys(clusters, 0)
    for d in form.time_differences:
        if not {d.left, d.right} <= members:
            continue
        pair = [next(c for c in clusters if i in c) for i in (d.left, d.right)]
        (one, a), (other, b) = ((c, sides[c]) for c in pair)
        if a and b and a != b:
            for side in (*a, *b):
                conflicts[side] += 1
        elif one != other:
            avoids[one] += 1
            avoids[other] += 1
    for cluster, those in sides.items():
        names = ", ".join(form.members[i].alias for i in sorted(cluster))
        if not those and (len(cluster) > 1 or avoids[cluster]):
            count = min(_patterns(lag, cluster, first, avoids[cluster]) for first in cluster)
            factors.append(Factor(count, f"{count} patterns of {names}"))
    for side, number in enumerate(conflicts):
        if number:
            count = sum(perm(number, k) for k in range(number + 1))
            factors.append(Factor(count, f"{count} best of {_name(form, frontier[side])}"))
    return factors


def _serves(
    lag: dict[tuple[int, int], int], cluster: frozenset[int], those: Collection[frozenset[int]]
) -> bool:
    """Whether a cluster is one of those, or after one of them and before another."""
    return cluster in those or (
        any((a, b) in lag for t in those for a in cluster for b in t)
        and any((b, a) in lag for t in those for a in cluster for b in t)
    )


def _settle_others(form: NormalForm, sides: dict[frozenset[int], set[int]]) -> None:
    """Clusters that nothing relates to two sides, directly or through others, go with one."""
    groups = [c.members for c in form.classes]
    groups += [form.classes[q.x].members | form.classes[q.y].members for q in form.inequalities]
    groups += [form.classes[d.x].members | form.classes[d.y].members for d in form.disequalities]
    groups += [frozenset({t.earlier, t.later}) for t in form.times]
    groups += [frozenset({d.left, d.right}) for d in form.time_differences]
    rest = {c for c, those in sides.items() if not those}
    while rest:
        part, reached = {rest.pop()}, set()
        while True:
            members = frozenset(i for c in part for i in c)
            near = {c for g in groups if g & members for c in sides if c & g} - part
            reached = {side for c in near for side in sides[c]}
            if not near & rest:
                break
            part |= near & rest
            rest -= part
        if len(reached) < 2:
            for c in part:
                sides[c] = reached or {0}


def _name(form: NormalForm, frontier: Frontier) -> str:
    return form.classes[frontier.terms[0].value].name


def _inside_lags(form: NormalForm, members: frozenset[int]) -> dict[tuple[int, int], int]:
    """sup(t_j - t_i) for (i, j), where the table's own conditions limit it."""
    lag = {(i, i): 0 for i in members}
    for t in form.times:
        if {t.earlier, t.later} <= members:
            pair = (t.earlier, t.later)
            lag[pair] = min(t.steps, lag.get(pair, t.steps))
    for k in members:
        for i in members:
            for j in members:
                if (i, k) in lag and (k, j) in lag:
                    through = lag[i, k] + lag[k, j]
                    lag[i, j] = min(through, lag.get((i, j), through))
    return lag


def _clusters(lag: dict[tuple[int, int], int], members: frozenset[int]) -> list[frozenset[int]]:
    """Members within a window of one another."""
    found = {frozenset(j for j in members if (i, j) in lag and (j, i) in lag) for i in members}
    return sorted(found, key=min)


def _comparable(lag: dict[tuple[int, int], int], a: frozenset[int], b: frozenset[int]) -> bool:
    return any((i, j) in lag or (j, i) in lag for i in a for j in b)


def _patterns(
    lag: dict[tuple[int, int], int], cluster: frozenset[int], first: int, avoids: int
) -> int:
    """One for all that is, in every member, before (after) some that `first` puts latest
    (earliest), of which one avoids all that it must differ from; and one for each way in which
    the timestamps of the others can lie."""
    spans = [lag[first, i] + lag[i, first] for i in cluster if i != first]
    width = max(spans, default=0)
    count = width if not avoids else (width + 1) * (avoids + 1)
    for span in spans:
        count *= span + 1
    return 1 + count


def _ties(
    form: NormalForm, sides: Mapping[frozenset[int], set[int]], keyed: set[int]
) -> list[Factor]:
    """The choices of values that clusters share, or compare, which are not chosen together."""
    members = frozenset(i for c in sides for i in c)

    def apart(*values: int) -> bool:
        held = [form.classes[v].members & members for v in values]
        there = {c for those in held for c in sides if c & those}
        one = {side for c in there for side in sides[c]}
        return all(held) and len(there) > 1 and not (len(one) == 1 and all(sides[c] for c in there))

    covered = set(keyed)
    factors = []
    for c in form.classes:
        if c.index not in covered and apart(c.index):
            covered.add(c.index)
            factors.append(size_key(form, Key(c.index)))
    compared = [q for q in form.inequalities if apart(q.x, q.y)]
    unequal = [d for d in form.disequalities if apart(d.x, d.y)]

    def choices(value: int) -> Factor:
        pending = [q for q in compared if value in (q.x, q.y)]
        others = [(d.y, d.shift) for d in unequal if d.x == value]
        others += [(d.x, -d.shift) for d in unequal if d.y == value]
        return size_key(form, coarsen_key(form, value, pending, others))

    for x, y in [(q.x, q.y) for q in compared] + [(d.x, d.y) for d in unequal]:
        if not {x, y} & covered:  # of two that are compared, one that is fixed suffices
            size, chosen = min(
                ((choices(v), v) for v in (x, y)),
                key=lambda c: (c[0].size is None, c[0].size or 0),
            )
            covered.add(chosen)
            factors.append(size)
    return factors
