"""Confirm a witness against an aggregate query: what each suffix tells of the optional tuples.

That the answers of all subsets of a few tuples differ is not enough: a single sum of different
numbers does that, and is one unit of memory. Each of the arguments here holds for any number of
tuples (checker/citations.md, 8).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from ontoweir.checker.witness.confirm.matrix_rank import matrix_rank
from ontoweir.checker.witness.confirm.trace_matches import Way, trace_matches
from ontoweir.checker.witness.evaluate_naively import aggregate_naively, evaluate_naively
from ontoweir.checker.witness.witness import Witness, instance_of
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import IsNull, SpjUnion

Groups: TypeAlias = dict[tuple[Any, ...], Counter[Any]]
"""The values of one argument in each group, counted."""

MAX_SUBSETS = 6
"""A witness against medians has at most so many optional tuples: all subsets are compared."""


def confirm_aggregates(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether the updates of groups after the suffixes prove that all subsets of the optional
    tuples must be told apart, by one of the aggregates."""
    assert union.aggregation is not None
    work = _Matches(union, catalog, witness)
    for aggregate in union.aggregation.aggregates:
        match aggregate.function:
            case AggregateFunction.MIN | AggregateFunction.MAX:
                confirmed = _confirms_extreme(work, aggregate)
            case AggregateFunction.SUM | AggregateFunction.COUNT:
                confirmed = _confirms_sum(work, aggregate)
            case AggregateFunction.AVG:
                confirmed = _confirms_average(work, aggregate)
            case AggregateFunction.COUNT_DISTINCT:
                confirmed = _confirms_count(work, aggregate)
            case (
                AggregateFunction.MEDIAN
                | AggregateFunction.QUANTILE
                | AggregateFunction.SUM_DISTINCT
                | AggregateFunction.AVG_DISTINCT
                | AggregateFunction.LIST
                | AggregateFunction.LIST_DISTINCT
                | AggregateFunction.PERCENTILE
                | AggregateFunction.VAR_POP
                | AggregateFunction.VAR_SAMP
                | AggregateFunction.COVAR_POP
                | AggregateFunction.REGR_SXX
            ):
                confirmed = False
        if confirmed:
            return True
    return _confirms_own_groups(union, catalog, witness)


def _confirms_own_groups(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Of a group to which no other optional tuple adds a match, suffix i brings another update
    where tuple i is there than where it is not (or an update in one case only)."""
    assert union.aggregation is not None
    work = _Matches(union, catalog, witness)
    plain = replace(union.aggregation.aggregates[0], function=AggregateFunction.COUNT)
    fixed = list(witness.fixed)
    for i, suffix in enumerate(witness.suffixes):
        alone = work.groups(plain, frozenset(), i)
        together = work.groups(plain, work.everything - {i}, i)
        mine = [witness.optional[i]]
        whole = work.groups(plain, work.everything, i)
        own = work.groups(plain, frozenset({i}), i)
        changes = []
        for optional in ([], mine):
            before = aggregate_naively(union, instance_of(catalog, [*fixed, *optional]))
            rows = [*fixed, *optional, *suffix]
            after = aggregate_naively(union, instance_of(catalog, rows))
            changes.append({g: after[g] for g in after if before.get(g) != after[g]})
        if not any(
            changes[0].get(group) != changes[1].get(group)
            and alone.get(group) == together.get(group)
            and own.get(group) == whole.get(group)
            for group in {**changes[0], **changes[1]}
        ):
            return False
    return True


def confirm_medians(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether no two subsets lead to the same updates, for a layout whose suffixes move the median
    from one optional tuple to the next; for no other layout is this an argument."""
    assert union.aggregation is not None
    medians = tuple(
        a for a in union.aggregation.aggregates if a.function is AggregateFunction.MEDIAN
    )
    if witness.size > MAX_SUBSETS or not medians or not _of_one_disjunct(union, catalog, witness):
        return False
    union = replace(union, aggregation=replace(union.aggregation, aggregates=medians))
    seen: set[tuple[frozenset[Any], ...]] = set()
    for chosen in product((False, True), repeat=witness.size):
        optional = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        before = [*witness.fixed, *optional]
        known = aggregate_naively(union, instance_of(catalog, before)).items()
        observed = tuple(
            frozenset(
                aggregate_naively(union, instance_of(catalog, [*before, *suffix])).items() - known
            )
            for suffix in witness.suffixes
        )
        if observed in seen:
            return False
        seen.add(observed)
    return True


def _of_one_disjunct(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether all matches are of one disjunct, in layouts of any size: the others, if any, are of
    rows where a grouped column is NULL, and no row of the witness is such."""
    nulls = [q for q in union.disjuncts if any(isinstance(c, IsNull) for c in q.conditions)]
    rows = [*witness.fixed, *witness.optional, *(r for s in witness.suffixes for r in s)]
    plain = replace(union, disjuncts=tuple(nulls), distinct=False, aggregation=None)
    return len(union.disjuncts) - len(nulls) == 1 and not evaluate_naively(
        plain, instance_of(catalog, rows)
    )


class _CountedValue(NamedTuple):
    """A value that an aggregate takes, in its group; the optional tuples that its matches use, by
    number; and how many such matches there are."""

    group: tuple[Any, ...]
    value: Any
    used: frozenset[int]
    number: int


class _Matches:
    """The matches of an aggregate query over parts of a witness.

    Those over everything are listed once for every suffix: a match is there where the optional
    tuples that it uses are, and the suffix if it uses that.
    """

    def __init__(self, union: SpjUnion, catalog: Catalog, witness: Witness) -> None:
        self.union, self.catalog, self.witness = union, catalog, witness
        self.everything = frozenset(range(witness.size))
        self._plain = replace(union, distinct=False, aggregation=None)
        self._known: dict[int | None, Counter[Way]] = {}

    def ways(self, suffix: int | None) -> Counter[Way]:
        """The matches with that suffix (None: with none), as trace_matches has them, counted."""
        if suffix not in self._known:
            rows = () if suffix is None else self.witness.suffixes[suffix]
            self._known[suffix] = trace_matches(self._plain, self.catalog, self.witness, rows)
        return self._known[suffix]

    def values(self, aggregate: Aggregate, suffix: int | None) -> Iterator[_CountedValue]:
        """The values that an aggregate takes of the matches."""
        assert self.union.aggregation is not None
        place = {name: n for n, name in enumerate(self.union.variables)}
        keys = [place[v] for v in self.union.aggregation.group]
        argument = None if aggregate.argument is None else place[aggregate.argument]
        for (row, used, _), count in self.ways(suffix).items():
            value = 1 if argument is None else row[argument]
            if value is None:  # an aggregate takes no part in what its argument is not there for
                continue
            if aggregate.function is AggregateFunction.COUNT:
                value = 1
            yield _CountedValue(tuple(row[k] for k in keys), value, used, count)

    def groups(
        self, aggregate: Aggregate, optional: frozenset[int], suffix: int | None = None
    ) -> Groups:
        """The groups of the matches of some optional tuples, by number, and a suffix."""
        answers: Groups = {}
        for key, value, used, count in self.values(aggregate, suffix):
            if used <= optional:
                answers.setdefault(key, Counter())[value] += count
        return answers

    def shares(
        self, aggregate: Aggregate, suffix: int | None
    ) -> tuple[Groups, list[Groups]] | None:
        """(base, added): group values of the matches that use no optional tuple, and of those that
        use tuple i, by i; None: some match uses two."""
        base: Groups = {}
        added: list[Groups] = [{} for _ in range(self.witness.size)]
        for key, value, used, count in self.values(aggregate, suffix):
            if len(used) > 1:
                return None
            mine = added[next(iter(used))] if used else base
            mine.setdefault(key, Counter())[value] += count
        return base, added


def _confirms_extreme(work: _Matches, aggregate: Aggregate) -> bool:
    """Minima only fall and maxima only rise with more tuples. If suffix i makes a group's better
    with tuple i alone than with all the others, and than it was before, then every subset with
    tuple i leads to an update that none without it leads to."""
    greatest = aggregate.function is AggregateFunction.MAX
    before = work.groups(aggregate, work.everything)
    for i in range(work.witness.size):
        without = work.groups(aggregate, work.everything - {i}, i)
        if not any(
            all(
                group not in other
                or (
                    max(values) > max(other[group]) if greatest else min(values) < min(other[group])
                )
                for other in (without, before)
            )
            for group, values in work.groups(aggregate, frozenset({i}), i).items()
        ):
            return False
    return True


def _confirms_sum(work: _Matches, aggregate: Aggregate) -> bool:
    """What updates after the suffixes reveal of the optional tuples: as many independent sums as
    there are tuples; no match uses two of them.

    An update shows the whole sum of a group that the suffix changes in any case. Where it may
    change or not, it reveals what the suffix adds if the optional tuples added nothing before.
    """
    rows = []
    size = work.witness.size
    start = work.groups(aggregate, frozenset())
    for base, added, before in _contributions(work, aggregate) or ():
        for group in {g for groups in added for g in groups}:
            fresh = _total(base.get(group)) - _total(start.get(group))
            old = [_total(b.get(group)) for b in before]
            new = [_total(a.get(group)) - o for a, o in zip(added, old, strict=True)]
            if fresh and all(n * fresh >= 0 for n in new):
                rows.append([n + o for n, o in zip(new, old, strict=True)])
            elif not any(old):
                rows.append(new)
    return matrix_rank(rows, size) == size


def _confirms_count(work: _Matches, aggregate: Aggregate) -> bool:
    """The number of distinct values of a group changes after suffix i if and only if tuple i is
    there, or if and only if it is not: whichever values the others are. That some values are new
    is not enough: their number alone is one count."""
    assert work.union.aggregation is not None
    place = {name: n for n, name in enumerate(work.union.variables)}
    shown = work.union.aggregation.group
    for i in range(work.witness.size):
        # by group and value: the sets of tuples that give it, before and after the suffix
        ways: dict[Any, dict[Any, tuple[set[frozenset[int]], set[frozenset[int]]]]] = {}
        for answer, used, late in work.ways(i):
            group = tuple(answer[place[name]] for name in shown)
            value = answer[place[aggregate.argument or ""]]
            before, after = ways.setdefault(group, {}).setdefault(value, (set(), set()))
            after.add(used)
            if not late:
                before.add(used)
        if not any(_counts_one(group_ways.values(), i) for group_ways in ways.values()):
            return False
    return True


def _list_givers(sets: set[frozenset[int]]) -> set[int | None] | None:
    """The tuples each of which gives a value by itself (None among them: it is always given), where
    all others that give it together have such a one among them (None: not all have)."""
    if frozenset() in sets:
        return {None}
    alone = {next(iter(used)) for used in sets if len(used) == 1}
    return {*alone} if all(used & alone for used in sets) else None


def _counts_one(
    values: Iterable[tuple[set[frozenset[int]], set[frozenset[int]]]], one: int
) -> bool:
    """Whether some value of a group is new after a suffix exactly where the optional tuple `one`
    is there, or exactly where it is not. Of each value: which sets of tuples give it before and
    after.

    Where others are new whatever is there, the number always changes, by so many more. Then all
    that are new must be so by `one` alone, in one of the two ways: numbers after two suffixes are
    equal for two subsets only where one has all tuples that the other has not.
    """
    known, always = [], False
    for sets_before, sets_after in values:
        before, after = _list_givers(sets_before), _list_givers(sets_after)
        if before is None or after is None:
            return False
        if None in after and not before:
            always = True
        elif not _is_old(before, after):
            known.append((before, after))
    if always:
        with_it = all(after == {one} and not before for before, after in known)
        without = all(None in after and before == {one} for before, after in known)
        return bool(known) and (with_it or without)
    with_it = any(one in after and not before for before, after in known) and all(
        before & {None, giver} for before, after in known for giver in after - {one}
    )
    without = any(None in after and before == {one} for before, after in known) and all(
        before & {None, one, giver} for before, after in known for giver in after
    )
    return with_it or without


def _is_old(before: set[int | None], after: set[int | None]) -> bool:
    """Whether a value is never new: whoever gives it has given it before."""
    return all(before & {None, giver} for giver in after)


def _total(values: Counter[Any] | None) -> Fraction:
    return sum((Fraction(v) * count for v, count in (values or {}).items()), Fraction(0))


def _confirms_average(work: _Matches, aggregate: Aggregate) -> bool:
    """Suffix i shows a group, which was not there before, matches of tuple i and only of tuples
    on one side of i, and the values of tuple i's are extreme in it: so they move its average,
    whichever of the others are there. Tuple by tuple, the averages tell the subset."""
    contributions = _contributions(work, aggregate)
    known = work.groups(aggregate, work.everything)
    if contributions is None:
        return False
    for earlier in (True, False):
        if all(
            any(
                group not in known
                and all(group not in a for a in (added[i + 1 :] if earlier else added[:i]))
                and _moves(values, base.get(group), [a.get(group) for a in added])
                for group, values in added[i].items()
            )
            for i, (base, added, _) in enumerate(contributions)
        ):
            return True
    return False


def _moves(
    own: Counter[Any], base: Counter[Any] | None, everyone: list[Counter[Any] | None]
) -> bool:
    """Whether values move the average of all there may be, upwards or downwards."""
    others = [v for a in everyone if a is not None and a is not own for v in a]
    always = list(base or ())
    if not others and not always:
        return True
    for sign in (1, -1):
        least = min(sign * Fraction(v) for v in own)
        most = max(sign * Fraction(v) for v in (*others, *always))
        if least > most or (least == most and any(sign * Fraction(v) < least for v in always)):
            return True
    return False


def _contributions(
    work: _Matches, aggregate: Aggregate
) -> list[tuple[Groups, list[Groups], list[Groups]]] | None:
    """For each suffix, the group values of the matches that use no optional tuple, of those that
    use tuple i, by i, and of the latter without the suffix; None: some match uses two."""
    before = work.shares(aggregate, None)
    contributions = []
    for i in range(work.witness.size):
        after = work.shares(aggregate, i)
        if before is None or after is None:
            return None
        contributions.append((*after, before[1]))
    return contributions
