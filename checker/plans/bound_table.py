"""A bound on the rows of a table of partial matches: a number and its formula (theory §7, 8).

A row is a key, kept timestamps, and frontier values. The key has at most as many values as the
product of the factors that cover it: the domain of a class; or, of a member whose tuples are kept
only for some steps (or that is finite), how many tuples those are, which covers all it holds.
What the keys of static relations determine needs no factor.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from ontoweir.checker.model.normal_form import Member, NormalForm, OpenValues
from ontoweir.checker.model.plan import (
    Bound,
    DistinctSample,
    Frontier,
    KeptTimestamp,
    Key,
    Tuples,
)
from ontoweir.checker.plans.bound_frontier import bound_frontier
from ontoweir.checker.sizes.size_key import Factor, size_key
from ontoweir.rewriter.model.spj import IsNull, NotNull

MAX_MEMBERS = 6
"""Of more members that may be counted by tuples, only each alone and all together are tried."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """What is counted by values that are open: these, and the members of whose tuples each value
    has few."""

    factors: tuple[Factor, ...] = ()
    values: frozenset[int] = frozenset()
    members: frozenset[int] = frozenset()

    def __or__(self, other: "_Opened") -> "_Opened":
        return _Opened(
            (*self.factors, *other.factors),
            self.values | other.values,
            self.members | other.members,
        )


@dataclass(frozen=True, slots=True)
class _Table:
    """What a table joins, its key, the timestamps it keeps, and the members whose tuples are kept
    for so many steps."""

    members: frozenset[int]
    keys: Sequence[Key]
    kept: Sequence[KeptTimestamp]
    waits: Mapping[int, int | None]


def bound_table(
    form: NormalForm,
    members: frozenset[int],
    keys: Sequence[Key],
    kept: Sequence[KeptTimestamp],
    frontier: Sequence[Frontier],
    waits: Mapping[int, int | None],
    apart: Sequence[DistinctSample] = (),
) -> Bound:
    """The least bound found on the rows of a table.

    Args:
        form: the disjunct.
        members: what the table joins.
        keys: its key.
        kept: the timestamps it keeps.
        frontier: its frontier values.
        waits: the members whose tuples are kept for so many steps (None: a finite stream's, for
            ever), which bounds how many there are.
        apart: classes of the key of which few values suffice.
    """
    several = sorted(waits)
    subsets: Iterable[tuple[int, ...]] = (
        (s for n in range(len(several) + 1) for s in combinations(several, n))
        if len(several) <= MAX_MEMBERS
        else ((), *((i,) for i in several), tuple(several))
    )
    few = {a.value: _few(form, a) for a in apart}
    closed = tuple(_list_open(form, members))
    covers = [
        _cover(form, _Table(members, keys, kept, waits), frozenset(s), few, o)
        for s in subsets
        for o in closed
    ]
    factors = min(covers, key=_cost)
    if len(frontier) > 1:
        fixed = {k.value for k in keys if k.whole}
        factors = [*factors, *bound_frontier(form, members, frontier, fixed)]
    table = _Table(members, keys, kept, waits)
    return replace(_product(factors), of=_find_tuples(form, table, frontier))


def _find_tuples(form: NormalForm, table: _Table, frontier: Sequence[Frontier]) -> Tuples | None:
    """The tuples of a member of which a table has at most one row each: it has no other members, or
    all of the key follows from this one's values."""
    for index, steps in sorted(table.waits.items()):
        alone = table.members == {index}
        if not alone:
            cover = _cover(form, table, frozenset({index}), {}, _Opened())
            alone = len(cover) == 1 and len(frontier) < 2
        if alone and steps is not None:
            return _of_member(form, index, steps)
    return None


def _of_member(form: NormalForm, index: int, steps: int) -> Tuples | None:
    """The tuples of a member of so many steps (None: more than one row may be of each)."""
    member = form.members[index]
    rate = member.rate
    if rate is None or member.statics:
        return None
    valued = {
        (c.attribute.column, isinstance(c, NotNull))
        for c in member.local
        if isinstance(c, IsNull | NotNull)
    }
    most = rate * member.timestamps(steps)
    formula = f"R({member.alias}) · {_steps(steps, member)}"
    return Tuples(member.stream, frozenset(valued), most, formula)


def bound_groups(form: NormalForm, values: Iterable[int]) -> Bound:
    """A bound on the number of distinct combinations of some classes' values."""
    return _product(_domains(form, [Key(v) for v in dict.fromkeys(values)], set(), {}))


def bound_keys(
    form: NormalForm, keys: Sequence[Key], given: set[int], factors: Sequence[Factor]
) -> Bound:
    """A bound on the values of a key where the classes of `given` are counted by `factors`."""
    return _product([*factors, *_domains(form, keys, given, {})])


def _cover(
    form: NormalForm,
    table: _Table,
    counted: frozenset[int],
    few: Mapping[int, Factor],
    opened: _Opened,
) -> list[Factor]:
    """Factors for a key and timestamps where the tuples of some members are counted, and others by
    the values that are open."""
    factors = [_tuples(form, i, table.waits[i]) for i in sorted(counted - opened.members)]
    factors += opened.factors
    counted |= opened.members
    for k in table.kept:
        if k.member not in counted:
            steps = k.forget_after if k.expire_after is None else k.expire_after
            member = form.members[k.member]
            size = None if steps is None else member.timestamps(steps)
            factors.append(Factor(size, f"{_steps(steps, member)} of {member.alias}"))
    held = {c.index for c in form.classes if c.members & counted} | opened.values
    return [*factors, *_domains(form, table.keys, held, few, table.members)]


def _list_open(form: NormalForm, members: frozenset[int]) -> Iterator[_Opened]:
    """Ways to count what a table keeps by the values that are open: by none, by the values, or by
    their rows, too."""
    ways = [
        [
            _Opened(),
            _Opened((Factor(o.size, o.formula),), frozenset(o.values)),
            *([_count_rows(form, o, members)] if o.rows is not None else []),
        ]
        for o in form.opened(members)
    ]
    for choice in product(*ways):
        whole = _Opened()
        for one in choice:
            whole |= one
        yield whole


def _count_rows(form: NormalForm, o: OpenValues, members: frozenset[int]) -> _Opened:
    """The values that are open, and for each of its members in a table the rows of a value."""
    mine = o.members & members
    rows = (Factor(o.rows, f"{o.rows} rows of {form.members[i].alias}") for i in sorted(mine))
    return _Opened((Factor(o.size, o.formula), *rows), frozenset(o.values), mine)


def _few(form: NormalForm, apart: DistinctSample) -> Factor:
    """How many values of a class suffice beside those of the rest of the key."""
    size = apart.partners + 1
    return Factor(size, f"{size} values of {form.classes[apart.value].name} that differ")


def _domains(
    form: NormalForm,
    keys: Sequence[Key],
    given: set[int],
    few: Mapping[int, Factor],
    members: frozenset[int] | None = None,
) -> list[Factor]:
    """Factors for the classes of a key that neither the given ones nor each other determine, by
    static relations that are joined with these members (None: with all)."""
    sizes = {k.value: few.get(k.value) or size_key(form, k) for k in keys}
    whole = {k.value for k in keys if k.whole}
    needed = [k.value for k in keys]
    # the largest first: what the others determine is left out
    for value in sorted(needed, key=lambda v: (sizes[v].size is None, sizes[v].size or 0))[::-1]:
        rest = [v for v in needed if v != value]
        if value in _closure(form, given | (whole & set(rest)), members):
            needed = rest
    return [sizes[v] for v in needed]


def _closure(form: NormalForm, values: set[int], members: frozenset[int] | None) -> set[int]:
    """The classes that the values of some determine, by keys of static relations. What a table
    keeps of a member that waits for the one with which a relation is joined, has not met it yet."""
    closure = set(values)
    joined = [
        (known, every)
        for known, every, member in form.determined
        if members is None or member in members
    ]
    while True:
        more = {v for known, every in joined if known <= closure for v in every} - closure
        if not more:
            return closure
        closure |= more


def _tuples(form: NormalForm, member: int, wait: int | None) -> Factor:
    """How many tuples of a member (statics folded in) are kept."""
    one = form.members[member]
    rate = form.rates[member]
    steps, text = wait, _steps(wait, one)
    if wait is None:
        steps = None if one.first is None or one.last is None else one.last - one.first + 1
        text = f"{'all steps' if steps is None else _steps(steps, one)} of a finite stream"
    size = None if rate is None or steps is None else rate * one.timestamps(steps)
    kept = Factor(size, f"R({one.alias}) · {text}")
    if one.total is None:
        return kept
    total = form.totals[member]
    if size is not None and (total is None or size <= total):
        return kept
    return Factor(total, f"rows of {one.alias} by its key ({one.total[1]})")


def _steps(steps: int | None, member: Member) -> str:
    if steps is None or member.spacing == 1:
        return f"{steps} steps"
    count = member.timestamps(steps)
    return f"{count} timestamp{'' if count == 1 else 's'} in {steps} steps"


def _cost(factors: Sequence[Factor]) -> tuple[int, int, int]:
    """Fewest factors without a limit first, then fewest unknown ones, then the least product."""
    product = 1
    for f in factors:
        product *= 1 if f.size is None else f.size
    unknown = [f for f in factors if f.size is None]
    return sum(f.formula == "∞" for f in unknown), len(unknown), product


def _product(factors: Sequence[Factor]) -> Bound:
    if not factors:
        return Bound(1, "1")
    rows: int | None = 1
    for f in factors:
        rows = None if rows is None or f.size is None else rows * f.size
    several = [f for f in factors if f.size != 1 or not f.formula.startswith("|")]
    texts = [f.formula for f in several or factors]
    if len(texts) > 1:
        texts = [f"({text})" if " " in text else text for text in texts]
    return Bound(rows, " · ".join(texts))
