"""The published criteria, as published and labelled as published: [A] Th. 5.6, 5.10 and
[S] Th. 1, 2.

A verdict never rests on Th. 2 holding or on Th. 1 failing (theory §6: both are in error there).
Attributes are judged without enumerating LTO queries: an unbounded attribute is unbounded in some
LTO query derived from the disjunct, and an inequality join matters in some LTO query iff nothing
implies it and its clipped values are infinitely many (see normal_form.Inequality).
"""

from ontoweir.checker.model.criterion import CriterionResult, Failure
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.normalise.split_times import MAX_PARTS, TimeOrder
from ontoweir.rewriter.model.spj import Attribute, Compare, Op


def _joins(form: NormalForm) -> list[tuple[Compare, int, int]]:
    """The explicit non-timestamp joins between streams: condition and the two members."""
    member_of = {m.alias: m.index for m in form.members}
    joins = []
    for c in form.query.conditions:
        if (
            isinstance(c, Compare)
            and isinstance(c.right, Attribute)
            and c.left in form.class_of
            and c.left.alias in member_of
            and c.right.alias in member_of
            and c.left.alias != c.right.alias
        ):
            joins.append((c, member_of[c.left.alias], member_of[c.right.alias]))
    return joins


def references_of(form: NormalForm, member: int) -> tuple[set[int], set[int]]:
    """(MaxRef, MinRef) of a member, as sets of classes ([S] Def. 9)."""
    most = {
        q.y
        for q in form.inequalities
        if not q.clips
        and member in form.classes[q.y].members
        and not form.classes[q.y].domain.finite
    }
    least = {
        q.x
        for q in form.inequalities
        if not q.clips
        and member in form.classes[q.x].members
        and not form.classes[q.x].domain.finite
    }
    return most, least


def _projected(form: NormalForm, condition: str, exempt: set[int]) -> list[Failure]:
    return [
        Failure(condition, f"{g.name} is in the result and unbounded", f"bound {g.name}", g.index)
        for g in form.classes
        if g.projected and not g.domain.finite and not g.members & exempt
    ]


def _equal(form: NormalForm, condition: str, exempt: set[int]) -> list[Failure]:
    failures = []
    for c, i, j in _joins(form):
        group = form.classes[form.class_of[c.left]]
        assert isinstance(c.right, Attribute)
        other = form.classes[form.class_of[c.right]]
        if c.op not in (Op.EQ, Op.NE) or (i in exempt and j in exempt):
            continue
        # `≠` is treated like an equality (theory §3); one bounded side clips the other
        if group.domain.finite or other.domain.finite:
            continue
        failures.append(
            Failure(
                condition,
                f"the join {c.left} {c.op} {c.right} is over unbounded values",
                f"bound {c.left} or {c.right}",
                group.index,
                (i, j),
                c.source,
            )
        )
    reported = {f.value for f in failures}
    for group in form.classes:  # equalities that inequalities imply are in P⁺ too
        holders = sorted(group.members - exempt) or sorted(group.members)
        if len(group.members) < 2 or group.domain.finite or group.index in reported:
            continue
        if len(group.members & exempt) >= len(group.members):
            continue
        names = " = ".join(dict.fromkeys(str(a) for a, _ in group.attributes))
        what = f"the selection implies the join {names}, over unbounded values"
        failures.append(
            Failure(condition, what, f"bound {group.name}", group.index, tuple(holders))
        )
    return failures


def decide_arasu(form: NormalForm) -> CriterionResult:
    """[A] Th. 5.6 (bags) or Th. 5.10 (sets), in arrival order: `form` without timestamps."""
    failures: list[Failure] = []
    if form.distinct or len(form.members) > 1:
        failures += _projected(form, "C1", set())
        failures += _equal(form, "C2", set())
        failures += _reference_failures(form, "C3", 1 if form.distinct else 0, set())
    name = "[A] Th. 5.10" if form.distinct else "[A] Th. 5.6"
    return CriterionResult(name, tuple(failures), necessary=False)


def _reference_failures(
    form: NormalForm, condition: str, most: int, exempt: set[int]
) -> list[Failure]:
    failures = []
    for m in form.members:
        if m.index in exempt:
            continue
        largest, least = references_of(form, m.index)
        if len(largest) + len(least) > most:
            names = ", ".join(sorted(form.classes[v].name for v in largest | least))
            failures.append(
                Failure(
                    condition,
                    f"|MaxRef({m.alias})| + |MinRef({m.alias})| = {len(largest) + len(least)} "
                    f"> {most}: {names}",
                    "bound one of them",
                    None,
                    (m.index,),
                )
            )
    return failures


def decide_set(form: NormalForm) -> CriterionResult:
    """[S] Th. 2 (sets), as published: claimed sufficient; it is not (theory §6, errata 3, 4)."""
    failures = _projected(form, "C1", set()) + _equal(form, "C2", set())
    failures += _reference_failures(form, "C3", 1, set())
    return CriterionResult("[S] Th. 2", tuple(failures), necessary=False)


def decide_tree(form: NormalForm, parts: tuple[TimeOrder, ...] | None) -> CriterionResult:
    """[S] Th. 1 (bags), as published: sufficient, not necessary (theory §6, errata 1, 2).

    `parts`: by split_times; None, too many of them, counts as a failure.
    """
    if parts is None:
        many = Failure(
            "orders",
            f"the timestamps can be ordered in more than {MAX_PARTS} ways: not decided",
            "compare timestamps by < instead of <=",
        )
        return CriterionResult("[S] Th. 1", (many,), necessary=False)
    failures: dict[Failure, None] = {}
    for order in parts:
        for failure in _tree(form, order):
            failures[failure] = None
    return CriterionResult("[S] Th. 1", tuple(failures), necessary=False)


def _tree(form: NormalForm, order: TimeOrder) -> list[Failure]:
    parents: dict[int, list[int]] = {
        g: [] for g in range(len(order.groups)) if g not in order.finite
    }
    for later, earlier in order.reduction():
        parents[earlier].append(later)
    parts = _connected(parents)
    failures = [
        Failure(
            "C1",
            f"{_names(form, order, part)}: the dependency graph is not a tree",
            "order their timestamps completely, one after the other",
            None,
            tuple(sorted(m for g in part for m in order.groups[g])),
        )
        for part in parts
        if any(len(parents[g]) > 1 for g in part)
    ]
    if failures:
        return failures
    parent = {node: later[0] if later else None for node, later in parents.items()}
    tree_of: dict[int, int] = {}
    dist: dict[int, int] = {}
    for node in parent:
        root, distance = node, 0
        while (above := parent[root]) is not None:
            root, distance = above, distance + 1
        tree_of[node], dist[node] = root, distance
    root_members: set[int] = set()
    if len(parts) == 1 and not order.finite:
        root_members = {m for g, d in dist.items() if d == 0 for m in order.groups[g]}
    for c, i, j in _joins(form):
        a, b = order.group_of(i), order.group_of(j)
        if a == b or a in order.finite or b in order.finite:
            continue
        if tree_of[a] == tree_of[b]:
            fine = parent[a] == parent[b] or parent[a] == b or parent[b] == a
        else:
            fine = dist[a] == dist[b] == 0
        if not fine:
            failures.append(
                Failure(
                    "C2",
                    f"{c.left} {c.op} {c.right} joins streams that are not neighbours in the tree",
                    "join with the next later or earlier stream, or one with the same parent",
                    None,
                    (i, j),
                    c.source,
                )
            )
    for g in form.classes:
        if not g.projected:
            continue
        places = [order.group_of(m) for m in g.members]
        if any(p in order.finite or dist[p] <= 1 for p in places):
            continue
        failures.append(
            Failure(
                "C3",
                f"{g.name} is in the result, {min(dist[p] for p in places)} steps from the "
                "latest stream",
                "project it from the latest stream, or from one just before it",
                g.index,
                tuple(sorted(g.members)),
            )
        )
    failures += _projected(form, "C3", root_members)
    failures += _equal(form, "C4", root_members)
    failures += _reference_failures(form, "C5", 0, root_members)
    return failures


def _connected(parents: dict[int, list[int]]) -> list[set[int]]:
    """The weakly connected parts of an acyclic graph, by their least node."""
    parts: list[set[int]] = []
    for g, above in parents.items():
        touched = [p for p in parts if not p.isdisjoint((g, *above))]
        parts = [p for p in parts if p not in touched]
        parts.append({g, *above}.union(*touched))
    return sorted(parts, key=min)


def _names(form: NormalForm, order: TimeOrder, part: set[int]) -> str:
    return ", ".join(form.members[m].alias for g in sorted(part) for m in sorted(order.groups[g]))
