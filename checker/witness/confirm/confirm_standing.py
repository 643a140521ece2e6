"""Confirm a witness against a query of rows that hold until others end them.

What is told of them are changes: what holds after a suffix, less what held before it. An answer is
made of one row of a stream, so the optional tuples add up; and where none of the rows before the
suffix ends any of the others, the suffix alone says which of these end (checker/citations.md, 27).
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from ontoweir.checker.witness.confirm.matrix_rank import matrix_rank
from ontoweir.checker.witness.confirm.trace_matches import trace_matches
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.standing.answers_of import ENDER

Shown: TypeAlias = tuple[Any, ...]
_NOBODY = -1
"""As the number of an optional tuple: a row that is always there."""


def can_confirm_standing(union: SpjUnion) -> bool:
    """Whether a query is one that witnesses can be confirmed against here: rows that hold until
    other rows end them, each made of one row of a stream; or their groups, as they are; or the
    latest rows of each key. Not the first ones in another order."""
    standing = union.standing
    if standing is None or standing.first is not None:
        return False
    if standing.ender is None:
        if standing.groups is not None or standing.inclusive:
            return False
    elif standing.inclusive if standing.replaced else standing.nulls:
        return False
    if standing.ever and (standing.distinct or standing.groups is not None):
        return False  # what a suffix brings may be ended by it
    if union.ends or union.begins or union.blocks or union.statics or union.aggregation:
        return False
    groups = standing.groups
    if groups is None:
        return True
    whole = bool(groups.group) and set(groups.group) <= set(groups.columns)
    return whole and groups.having is None and groups.panes is None


def confirm_standing(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether the changes after the suffixes prove that all subsets of the optional tuples must be
    told apart: as the sum of what each of them adds to what ends; or, where answers hold once, or
    groups are told, since suffix i changes whether some answer, or group, is there if and only if
    tuple i is, or if and only if it is not.

    Args:
        union: the query, of which `can_confirm_standing` holds.
        catalog: with its views and derived columns.
        witness: legal, with suffixes later than all else.

    Raises:
        TooLongError: there are too many matches to look at.
        RepeatedError: what a row of a view is made of cannot be told.
    """
    standing = union.standing
    assert standing is not None
    rows: list[list[Fraction]] = []
    once = standing.distinct or standing.groups is not None
    for number in range(witness.size):
        found = _read_suffix(union, standing, catalog, witness, number)
        if found is None:
            return False
        if once:
            if not any(_is_told(found, shown, number) for shown in found.before):
                return False
            continue
        for ended in found.ended.values():
            rows.append([Fraction(ended.get(n, 0)) for n in range(witness.size)])
    return once or matrix_rank(rows, witness.size) == witness.size


@dataclass(slots=True)
class _Told:
    """What held before a suffix, of it what the suffix ends, and what the suffix may bring."""

    before: dict[Shown, Counter[int]] = field(default_factory=dict)
    """How often something is shown, by the optional tuple that it is made of."""
    ended: dict[Shown, Counter[int]] = field(default_factory=dict)
    brought: set[Shown] = field(default_factory=set)


def _read_suffix(
    union: SpjUnion, standing: Standing, catalog: Catalog, witness: Witness, number: int
) -> _Told | None:
    """None: a row before the suffix may end another one; or rows that end others, or that come
    with the suffix, are made of an optional tuple too."""
    place = {name: n for n, name in enumerate(union.variables)}
    names = [v for v in union.variables if v not in standing.hidden]
    if standing.groups is not None:
        names = list(standing.groups.group)
    told, keys = _Told(), dict[tuple[Shown, Shown, int], int]()
    early: dict[Shown, Counter[int]] = defaultdict(Counter)
    late: set[Shown] = set()
    for ender in (False, True):
        wanted = tuple(
            q
            for q in union.disjuncts
            if standing.ender is None or (dict(q.outputs)[standing.ender] == ENDER) is ender
        )
        part = replace(union, disjuncts=wanted, distinct=False, standing=None)
        traced = trace_matches(part, catalog, witness, witness.suffixes[number])
        for (answer, used, later), count in traced.items():
            key = tuple(answer[place[n]] for n in standing.key)
            if len(used) > 1 or (later and used):
                return None
            if ender:
                if later:
                    late.add(key)
                else:
                    early[key][next(iter(used), _NOBODY)] += count
                continue
            shown = tuple(answer[place[n]] for n in names)
            if later:
                told.brought.add(shown)
                continue
            (of,) = used or {_NOBODY}
            keys[shown, key, of] = keys.get((shown, key, of), 0) + count
    if standing.ever and early:
        return None  # what the suffix brings would follow from it
    for (shown, key, of), count in keys.items():
        # a row that ends those before it does not end itself
        own = standing.ender is None or standing.replaced
        others = {n for n, c in early[key].items() if c and not (own and n == of)}
        equal = standing.nulls or None not in key
        if equal and (others or (of == _NOBODY and early[key][of] > count)):
            return None
        told.before.setdefault(shown, Counter())[of] += count
        if equal and key in late:
            told.ended.setdefault(shown, Counter())[of] += count
    return told


def _is_told(found: _Told, shown: Shown, number: int) -> bool:
    """Whether something is there before the suffix if and only if an optional tuple is, and is not
    there after it."""
    before = found.before[shown]
    if before.keys() != {number} or shown in found.brought:
        return False
    return found.ended.get(shown, Counter()) == found.before[shown]
