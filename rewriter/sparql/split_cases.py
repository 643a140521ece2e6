"""Split a FILTER into conjunctions: its disjunctive normal form, as branches of a union."""

from collections.abc import Callable
from itertools import product
from typing import TypeAlias, assert_never

from ontoweir.rewriter.algebra.compare_filters import (
    exclude_each_other,
    follows_from,
    negate_filter,
)
from ontoweir.rewriter.model.query import Filter
from ontoweir.rewriter.sparql.patterns import (
    AllOf,
    AnyOf,
    Comparison,
    Formula,
    Negation,
    Never,
    Untrue,
)

Case: TypeAlias = tuple[Filter, ...]
"""A conjunction of comparisons."""


class TooManyCases(Exception):
    """The normal form is larger than the limit."""


def split_cases(
    formula: Formula, fix: Callable[[Filter], Filter | bool], *, disjoint: bool, limit: int
) -> tuple[Case, ...]:
    """Conjunctions that hold together exactly where the formula does.

    Negations are moved inwards first: !(a < b) is a >= b, for a comparison holds or its opposite
    does where both sides have a value. Where a side has none (or values do not compare) SPARQL
    calls it an error: neither holds, so `a || b` is b there. `fix` says so: it is asked after the
    negation is inside, and gives False for a comparison that is an error. What is untrue holds
    there, too.

    Under bag semantics a match counts once, however many alternatives hold. So the parts must be
    made `disjoint`: `a || b` is a, or b without a; and b without a1 && a2 is b && !a1, or
    b && a1 && !a2. Comparisons that exclude each other already, as in IN, need nothing.

    Args:
        formula: what is split.
        fix: the comparison with the values known so far; a truth value if that decides it.
        disjoint: no two cases hold of one match; under set semantics that is not needed.
        limit: how many cases there may be.

    Returns:
        () if it never holds, ((),) if it always does.

    Raises:
        TooManyCases: there are more than `limit`.
    """
    return _Splitter(fix, disjoint, limit).split(formula, True)


class _Splitter:
    def __init__(self, fix: Callable[[Filter], Filter | bool], disjoint: bool, limit: int) -> None:
        self.fix, self.disjoint, self.limit = fix, disjoint, limit

    def split(self, formula: Formula, positive: bool, true: bool = True) -> tuple[Case, ...]:
        """The cases where a formula has a truth value, `positive`; not `true`: where it has
        another one, or is an error."""
        match formula:
            case Comparison(filter=f):
                fixed = self.fix(f if positive else negate_filter(f))
                if isinstance(fixed, bool):
                    return ((),) if fixed is true else ()
                return ((fixed if true else negate_filter(fixed),),)
            case Never():
                return () if true else ((),)
            case Negation(part=part):
                return self.split(part, not positive, true)
            case Untrue(part=part):
                return self.split(part, True, positive is not true)
            case AllOf(parts=parts):
                return self._connect(parts, positive, true, positive is true)
            case AnyOf(parts=parts):
                return self._connect(parts, positive, true, positive is not true)
            case _ as unreachable:
                assert_never(unreachable)

    def _connect(
        self, parts: tuple[Formula, ...], positive: bool, true: bool, every: bool
    ) -> tuple[Case, ...]:
        """The cases where every part has a truth value, or any."""
        made = [self.split(part, positive, true) for part in parts]
        return self._meet(made) if every else self._join(made)

    def _meet(self, parts: list[tuple[Case, ...]]) -> tuple[Case, ...]:
        met: tuple[Case, ...] = ((),)
        for cases in parts:
            self._check(len(met) * len(cases))
            met = tuple(
                merged
                for a, b in product(met, cases)
                if not exclude_each_other(merged := _merge(a, b))
            ) or tuple(_merge(a, b) for a, b in list(product(met, cases))[:1])
        return met

    def _join(self, parts: list[tuple[Case, ...]]) -> tuple[Case, ...]:
        cases = [case for part in parts for case in part]
        self._check(len(cases))
        kept: list[Case] = []
        for case in cases:
            if any(_implies(case, k) for k in kept):
                continue
            kept = [k for k in kept if not _implies(k, case)]
            kept.append(case)
        return self._separate(kept) if self.disjoint else tuple(kept)

    def _separate(self, cases: list[Case]) -> tuple[Case, ...]:
        disjoint: list[Case] = []
        for i, case in enumerate(cases):
            pieces = [case]
            for other in cases[:i]:
                pieces = [p for piece in pieces for p in _without(piece, other)]
                self._check(len(disjoint) + len(pieces))
            disjoint.extend(pieces)
        return tuple(disjoint)

    def _check(self, size: int) -> None:
        if size > self.limit:
            raise TooManyCases


def _without(case: Case, other: Case) -> list[Case]:
    """The parts of `case` where `other` does not hold, disjoint."""
    if exclude_each_other((*case, *other)):
        return [case]
    made = (_merge(case, (*other[:n], negate_filter(f))) for n, f in enumerate(other))
    return [part for part in made if not exclude_each_other(part)]


def _merge(case: Case, more: Case) -> Case:
    """The conjunction, without comparisons that the others say already; from what contradicts
    itself everything follows, but what else is said is needed (windows)."""
    if exclude_each_other(case):
        return tuple(dict.fromkeys((*case, *more)))
    kept: list[Filter] = list(case)
    for f in more:
        if not follows_from(f, kept):
            kept = [k for k in kept if not follows_from(k, (f,))]
            kept.append(f)
    return tuple(kept)


def _implies(special: Case, general: Case) -> bool:
    return all(follows_from(f, special) for f in general)
