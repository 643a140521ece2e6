"""The lag criterion (theory §7): an attribute may be unbounded iff everything that still needs it
arrives within a bounded lag."""

from fractions import Fraction
from itertools import combinations

from ontoweir.checker.model.criterion import CriterionResult, Failure
from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.checker.normalise.breakpoints import break_at, overlap_unequal
from ontoweir.rewriter.model.spj import Compare, FoldFunction, Op, output_attributes
from ontoweir.rewriter.windows.window import ENDS

FOLDED = -1
"""In the place of a class: the partner outside of a value whose minimum or maximum is kept."""


def decide_lag(form: NormalForm) -> CriterionResult:
    """Decide one satisfiable disjunct by the lag criterion.

    Bags: E1-E3, exact without self-joins. Sets: C1, C2 = E2, C3 (the pair criterion), sound, and
    complete in all fuzzing without self-joins, `≠` and unions. Aggregates: G1 in the place of E1
    (E1 where a bucket of time closes groups, and in the place of C1 where a set shows a time);
    a minimum or maximum is one more comparison with all that is still to come, for C3.
    """
    failures = [*_projections(form), *_equalities(form)]
    if form.distinct:
        failures += _pairs(form)
    else:
        failures += _inequalities(form)
    if len(form.members) < 2 and not form.distinct:
        failures = []
    if form.query.closing is not None:
        # groups are forgotten: what tells them apart may be unbounded where E1 allows it
        failures += _never_final(form) if not failures else []
        failures += _open_unbounded(form) if not failures else []
    elif form.folds is not None and not form.distinct:
        told = _telling(form)
        failures = [f for f in failures if f.condition != "E1" or f.value not in told]
        failures = [*_groups_unbounded(form, told), *failures]
    return CriterionResult("lag", tuple(failures), necessary=_is_exact(form))


def _is_exact(form: NormalForm) -> bool:
    """Whether no algorithm has bounded memory where the criterion fails: argued for bags (theory
    §7), complete in all fuzzing for sets. Everything that may bound a query unseen is left out:
    self-joins, finite streams, `≠`, static data, strings by order, and numbers of different or no
    grain (of a float and a bounded integer only finitely many comparisons matter, and limits of
    mixed grains need not be the tightest). Of sets also limits on one side of what is compared,
    by which split_ranges may divide the query; of aggregates everything (an average of equal
    values needs nothing)."""
    streams = [m.stream for m in form.members]
    if len(set(streams)) < len(streams) or any(m.finite or m.statics for m in form.members):
        return False
    if form.disequalities or form.time_differences or form.folds is not None:
        return False
    numbers = {c.grain for c in form.classes if c.kind in (Kind.NUMBER, Kind.FLOAT)}
    if len(numbers) > 1 or 0 in numbers:
        return False
    for c in form.query.conditions:
        if not isinstance(c, Compare):
            continue
        if c.op is Op.NE:
            return False
        if form.kinds.get(c.left) is Kind.STRING and c.op is not Op.EQ:
            return False
    return not form.distinct or not any(
        form.bounds.limit(form.class_nodes[q.x], 0) or form.bounds.limit(0, form.class_nodes[q.y])
        for q in form.inequalities
        if not q.clips
    )


def _telling(form: NormalForm) -> set[int]:
    """The projected classes that tell groups, or counted values, apart: all but what is added, or
    chosen from, and when the rows of groups for ever leave, which is never."""
    return {
        form.class_of[a]
        for name, output in form.query.outputs
        if name not in form.query.added and name not in form.query.chosen
        if not name.startswith(ENDS)
        for a in output_attributes(output)
    }


def _groups_unbounded(form: NormalForm, telling: set[int]) -> list[Failure]:
    """G1 ([A] Th. 8.5, 8.6 C1 and C2): the current answer is kept, one row for each group."""
    classes = (c for c in form.classes if c.index in telling and c.projected)
    return [_group_unbounded(c) for c in classes if not c.domain.finite]


def _group_unbounded(group: ValueClass) -> Failure:
    return Failure(
        "G1",
        f"{group.name} tells groups or counted values apart and is unbounded: a number would have "
        "to be kept for every value of it",
        f"bound {group.name} (declare a range, an enumeration or a reference), or group by "
        "something bounded",
        group.index,
        tuple(sorted(group.members)),
    )


def _projections(form: NormalForm) -> list[Failure]:
    failures = []
    for group in form.classes:
        if not group.projected or group.domain.finite:
            continue
        if form.distinct and form.folds is not None:  # of MIN, MAX, COUNT(DISTINCT …)
            failures.append(_group_unbounded(group))
            continue
        if form.distinct and form.query.closing is None:
            failures.append(
                Failure(
                    "C1",
                    f"{group.name} is in the result and unbounded: every distinct value of it "
                    "would have to be remembered",
                    f"bound {group.name} (declare a range, an enumeration or a reference), "
                    "project something bounded, or select without DISTINCT",
                    group.index,
                    tuple(sorted(group.members)),
                )
            )
            continue
        waits = [
            (i, j)
            for i in sorted(group.members)
            for j in range(len(form.members))
            if j != i and form.has_unbounded_lag(i, j) and not form.closes(group.index, i, j)
        ]
        free = {i for i in group.members if not any(a == i for a, _ in waits)}
        if waits and not free:
            i, j = waits[0]
            failures.append(
                Failure(
                    "E1",
                    f"{group.name} is in the result and unbounded, and a tuple of "
                    f"{form.members[i].alias} may wait for one of {form.members[j].alias} for ever",
                    f"{_bound_it(form, group)}limit the time between "
                    f"{form.members[i].alias} and {form.members[j].alias} by a window"
                    f"{_say_few(form, i, j)}",
                    group.index,
                    (i, j),
                )
            )
    return failures


def _say_few(form: NormalForm, i: int, j: int) -> str:
    """What else to declare of two members that are joined by values that a rule closes."""
    named = (", ".join(o.rule.columns) for o in form.open if {i, j} <= o.members)
    return "".join(f"; or declare max_rows_per_value of {name}" for name in named)


def is_final_once(form: NormalForm) -> bool:
    """Whether a bucket of time closes its groups: nothing that falls into them waits for ever."""
    return form.query.closing is not None and not _never_final(form)


def _never_final(form: NormalForm) -> list[Failure]:
    """E1 for a bucket of time, also of finite streams, whose tuples are kept and may wait for ever:
    a match that comes later would belong to a group that is final."""
    assert form.query.closing is not None
    if form.query.closed is not None and form.query.closed.rule.session:
        return []  # matches are of one stream's rows
    group = form.classes[form.class_of[form.query.closing]]
    near = next(m.index for m in form.members if m.alias == form.query.closing.alias)
    others = (j for j in range(len(form.members)) if j != near)
    far = next((j for j in others if form.wait_of_groups(near, j) is None), None)
    if far is None:
        return []
    first, second = form.members[near].alias, form.members[far].alias
    return [
        Failure(
            "E1",
            f"{group.name} groups the results, and a tuple of {first} may wait for one of {second} "
            "for ever, so that no group is final",
            f"limit the time between {first} and {second} by a window",
            group.index,
            (near, far),
        )
    ]


def _open_unbounded(form: NormalForm) -> list[Failure]:
    """G1 for groups that a rule closes: a value may stay open for ever, so that what is kept of it
    must be bounded; but not where all its rows lie within a span, nor what its own rows have, where
    it is declared how many these are."""
    closed = form.query.closed
    if closed is None or closed.rule.span_us is not None:
        return []
    outputs = dict(form.query.outputs)
    kept = {form.class_of[a] for name in closed.kept for a in output_attributes(outputs[name])}
    told = form.closed_classes
    named = ", ".join(closed.rule.columns)
    while_open = "a session" if closed.rule.session else f"a value of {named}"
    named = "the session" if closed.rule.session else named
    few, limited = form.of_alias(closed.alias), closed.rule.most_rows is not None
    return [
        Failure(
            "G1",
            f"{c.name} tells groups or counted values apart and is unbounded: while "
            f"{while_open} is open, a number would have to be kept for every value of {c.name}",
            f"bound {c.name} (declare a range, an enumeration or a reference), or group by {named} "
            "and something bounded"
            + (
                f"; or declare max_rows_per_value of {named}"
                if c.index in few and not closed.rule.session
                else ""
            ),
            c.index,
            tuple(sorted(c.members)),
        )
        for c in form.classes
        if c.index in kept - (told | few if limited else told) and not c.domain.finite
    ]


def _bound_it(form: NormalForm, group: ValueClass) -> str:
    """What else to do about a value in the result: nothing, of a bucket that closes groups."""
    if form.query.closing in dict(group.attributes):
        return ""
    return f"bound {group.name}, do not project it, or "


def _equalities(form: NormalForm) -> list[Failure]:
    failures = []
    for group in form.classes:
        if group.domain.finite:
            continue
        for i, j in combinations(sorted(group.members), 2):
            apart = form.has_unbounded_lag(i, j) or form.has_unbounded_lag(j, i)
            if apart and not form.closes(group.index, i, j):
                failures.append(
                    Failure(
                        "C2" if form.distinct else "E2",
                        f"{group.name} joins {form.members[i].alias} with {form.members[j].alias} "
                        "by equality, is unbounded, and their tuples may be any time apart",
                        f"bound {group.name} (a reference to a static relation, a range, an "
                        "enumeration), or limit the time between them by a window",
                        group.index,
                        (i, j),
                    )
                )
                break
    return failures


def _apart(form: NormalForm, x: int, y: int) -> tuple[int, int] | None:
    """Two members of two classes, the first one's value unbounded, where its tuple may have to
    wait for the other's for ever."""
    for near, far in ((x, y), (y, x)):
        if form.classes[near].domain.finite:
            continue
        for i in sorted(form.classes[near].members):
            for j in sorted(form.classes[far].members):
                if i != j and form.has_unbounded_lag(i, j):
                    return i, j
    return None


def _inequalities(form: NormalForm) -> list[Failure]:
    failures = []
    for q in form.inequalities:
        apart = _apart(form, q.x, q.y)
        if q.clips or apart is None:
            continue
        x, y = form.classes[q.x], form.classes[q.y]
        failures.append(
            Failure(
                "E3",
                f"{x.name} is compared with {y.name} by order, both are unbounded, and their "
                "tuples may be any time apart",
                f"bound {x.name} from above or {y.name} from below, or limit the time between "
                f"them by a window{_say_few(form, *apart)}",
                q.x,
                apart,
                q.source,
                (q.x, q.y),
            )
        )
    for d in form.disequalities:
        x, y = form.classes[d.x], form.classes[d.y]
        apart, unit = _apart(form, d.x, d.y), form.unit_of(x.kind)
        if (x.domain.finite and y.domain.finite) or apart is None:
            continue
        discrete = x.grain and y.grain and x.kind is not Kind.STRING
        if (x.domain.known or y.domain.known) and (
            discrete
            or break_at(form.classes, unit, d.x, d.y, d.shift) is not None
            or break_at(form.classes, unit, d.y, d.x, -d.shift) is not None
        ):
            continue
        if overlap_unequal(form.classes, unit, d.x, d.y, d.shift) is not None:
            continue
        failures.append(
            Failure(
                "E2",
                f"{x.name} must differ from {y.name}, both are unbounded, and their tuples may "
                "be any time apart",
                f"bound {x.name} or {y.name}, or limit the time between them by a window",
                d.x,
                apart,
                d.source,
                (d.x, d.y),
            )
        )
    return failures


def _pairs(form: NormalForm) -> list[Failure]:
    """C3: at most one distinct group of unbounded inequality joins leaves any comparable pair.

    `≠` fails no condition: few values suffice to differ from later ones, or the plan says that it
    cannot keep them (citations, 18)."""
    failures: list[Failure] = []
    for a in range(len(form.members)):
        for b in range(a, len(form.members)):
            if a != b and form.lag[a][b] is None and form.lag[b][a] is None:
                continue
            groups = _groups(form, {a, b}, form.reach({a, b}))
            if len(groups) > 1:
                names = [
                    " and ".join(sorted({form.classes[v].name for v, _, _ in g})) for g in groups
                ]
                pair = " and ".join(dict.fromkeys(form.members[i].alias for i in (a, b)))
                failures.append(
                    Failure(
                        "C3",
                        f"matches of {pair} are compared by order with later tuples in "
                        f"{len(groups)} independent ways ({'; '.join(names)}), all unbounded: no "
                        "bounded number of best matches suffices",
                        "bound one of the compared columns, or limit the time to the later "
                        "tuples by a window",
                        None,
                        (a, b),
                        values=tuple(sorted({v for g in groups for v, _, _ in g})),
                    )
                )
    return failures


def _groups(
    form: NormalForm, pair: set[int], closed: frozenset[int]
) -> set[frozenset[tuple[int, int, int | Fraction]]]:
    """The distinct groups of unbounded inequality joins between a pair and streams outside."""
    raw: dict[tuple[int, int], set[tuple[int, int, int | Fraction]]] = {}
    for q in form.inequalities:
        if q.clips:
            continue
        for inside, outside, sign in ((q.x, q.y, 1), (q.y, q.x, -1)):
            near, far = form.classes[inside], form.classes[outside]
            if near.members & pair and far.members - closed and not far.members & pair:
                raw.setdefault((outside, sign), set()).add((inside, sign, -q.limit))
    for fold in form.folds or ():
        # the least (greatest) value so far is compared with all that is still to come
        group = form.classes[fold.value]
        if fold.function is not FoldFunction.SUM and group.members & pair:
            sign = 1 if fold.function is FoldFunction.MIN else -1
            if not group.domain.finite:
                raw.setdefault((FOLDED, sign), set()).add((fold.value, sign, 0))
    groups = set()
    for terms in raw.values():
        base = min(terms)[2]
        groups.add(frozenset((v, s, shift - base) for v, s, shift in terms))
    return groups
