"""Confirm a witness by the relational answer, computed naively (theory §9).

What counts is what a suffix *brings*: rows of the answer that were not given before it. Rows that
were given need no memory.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from ontoweir.checker.witness.confirm.confirm_aggregates import confirm_aggregates, confirm_medians
from ontoweir.checker.witness.confirm.confirm_beside import confirm_beside, tells_all
from ontoweir.checker.witness.confirm.confirm_preceding import (
    confirm_preceding,
    find_preceding,
)
from ontoweir.checker.witness.confirm.confirm_standing import (
    can_confirm_standing,
    confirm_standing,
)
from ontoweir.checker.witness.confirm.matrix_rank import matrix_rank
from ontoweir.checker.witness.confirm.read_answers import open_answers
from ontoweir.checker.witness.confirm.trace_matches import trace_matches
from ontoweir.checker.witness.evaluate_naively import RepeatedError
from ontoweir.checker.witness.is_legal import is_legal
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.list_lags import apply_lags
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.spj import SpjUnion

Brought: TypeAlias = Counter[tuple[Any, frozenset[int]]]
"""New results, each with the optional tuples that it uses, counted."""

MAX_SUBSETS = 6
"""Of at most so many optional tuples all subsets are compared."""


def confirm_witness(
    union: SpjUnion, catalog: Catalog, witness: Witness, *, by_median: bool = False
) -> bool:
    """Whether the relational answers prove that all subsets of optional tuples differ.

    Args:
        union: the query, with declared lags applied; or one that reads answers beside which rows
            are there, or are not (`can_confirm`); or one of rows that hold until others end them.
        catalog: what is declared.
        witness: fixed part, optional tuples, a suffix for each.
        by_median: the suffixes of the layout move a median from one optional tuple to the next.

    Raises:
        TooLongError: there are too many matches to look at.
    """
    prefix = [*witness.fixed, *witness.optional]
    if not all(witness.suffixes) or not is_legal(witness, catalog):
        return False
    if any(
        r.step is not None and q.step is not None and q.step <= r.step
        for s in witness.suffixes
        for q in s
        for r in prefix
    ):
        return False
    try:
        if union.standing is not None:
            return can_confirm_standing(union) and confirm_standing(union, catalog, witness)
        if union.blocks and find_preceding(union) is not None:
            return confirm_preceding(union, catalog, witness)
        if union.blocks:
            if confirm_beside(union, catalog, witness):
                return True
            opened = open_answers(union)
            if opened is None or not tells_all(union, catalog, witness):
                return False
            union = apply_lags(opened, catalog)
        if union.aggregation is not None and (union.ends or find_closing(union, catalog)):
            # its rows are told when groups are final, or change: which groups there are suffices
            return _confirms_set(_list_groups(union), catalog, witness, once=True)
        if union.aggregation is not None:
            confirm = confirm_medians if by_median else confirm_aggregates
            return confirm(union, catalog, witness)
        if union.distinct:
            once = bool(union.ends or union.begins)
            return _confirms_set(union, catalog, witness, once=once)
        return _confirms_bag(union, catalog, witness)
    except RepeatedError:
        return False  # which rows a triple is made of cannot be told


def _list_groups(union: SpjUnion) -> SpjUnion:
    """The groups of an aggregate query, as a set; where buckets overlap, without their panes: what
    is brought in none of them makes no row of any bucket."""
    assert union.aggregation is not None
    panes = union.aggregation.panes
    group = tuple(v for v in union.aggregation.group if panes is None or v != panes.variable)
    disjuncts = tuple(
        replace(query, outputs=tuple((n, dict(query.outputs)[n]) for n in group), folds=None)
        for query in union.disjuncts
    )
    return replace(union, variables=group, disjuncts=disjuncts, distinct=True, aggregation=None)


def _confirms_set(
    union: SpjUnion, catalog: Catalog, witness: Witness, *, once: bool = False
) -> bool:
    """Suffix i brings some row if and only if optional tuple i is there, or if and only if it is
    not, whichever of the others are: so every subset brings what no other does.

    The answer is monotone, so the least and the greatest set of others decide for all.

    `once`: when a row is told is not when it is found, or it ends and may be told again, so that
    only rows count that nothing but the suffix brings.
    """
    size = witness.size
    for i, suffix in enumerate(witness.suffixes):
        mine = frozenset({i})
        others = frozenset(range(size)) - mine
        before: dict[Any, list[frozenset[int]]] = {}
        after: dict[Any, list[frozenset[int]]] = {}
        for answer, optional_tuples, late in trace_matches(union, catalog, witness, suffix):
            if len(optional_tuples) > 1:
                return False
            after.setdefault(answer, []).append(optional_tuples)
            if not late:
                before.setdefault(answer, []).append(optional_tuples)
        for answer, ways in after.items():
            known = before.get(answer, [])
            with_it = any(optional_tuples <= mine for optional_tuples in ways)
            without = any(optional_tuples <= others for optional_tuples in ways)
            if with_it and not without and not known:
                break  # brought with tuple i alone, and never without it
            again = any(optional_tuples == mine for optional_tuples in known)
            if (
                not once
                and again
                and frozenset() in ways
                and not any(optional_tuples <= others for optional_tuples in known)
            ):
                break  # given before if tuple i was there, and brought if it was not
        else:
            return False
    return True


def _confirms_bag(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """What suffixes bring tells all subsets apart.

    Where no match uses two optional tuples contributions add up: the new results of suffix i, as a
    matrix over the optional tuples, have full rank. Otherwise all subsets are compared.
    """
    size = witness.size
    rows: list[list[Fraction]] = []
    brought: list[Brought] = []
    for suffix in witness.suffixes:
        counts: Brought = Counter()
        for (answer, optional_tuples, late), count in trace_matches(
            union, catalog, witness, suffix
        ).items():
            if union.begins and not late:  # it may be told after the suffix
                return False
            if late and optional_tuples:
                counts[answer, optional_tuples] += count
        brought.append(counts)
        new: dict[Any, list[int]] = {}
        for (answer, optional_tuples), count in counts.items():
            if len(optional_tuples) == 1:
                new.setdefault(answer, [0] * size)[next(iter(optional_tuples))] += count
        rows += [list(map(Fraction, row)) for row in new.values()]
    if all(len(optional_tuples) == 1 for counts in brought for _, optional_tuples in counts):
        return matrix_rank(rows, size) == size
    return size <= MAX_SUBSETS and _tells_subsets(brought, size)


def _tells_subsets(brought: list[Brought], size: int) -> bool:
    """Whether all subsets of the optional tuples differ in what some suffix brings, and the tuples
    alone do so by their own contributions (a single count of all never does, theory §9)."""
    matrix: list[list[Fraction]] = []
    for counts in brought:
        single: dict[Any, list[int]] = {}
        for (answer, optional_tuples), count in counts.items():
            # what a tuple adds where all others are there
            for n in optional_tuples:
                single.setdefault(answer, [0] * size)[n] += count
        matrix += [list(map(Fraction, row)) for row in single.values()]
    if matrix_rank(matrix, size) < size:
        return False
    seen: set[tuple[frozenset[tuple[Any, int]], ...]] = set()
    for chosen in product((False, True), repeat=size):
        there = frozenset(n for n, taken in enumerate(chosen) if taken)
        outputs = []
        for counts in brought:
            given: Counter[Any] = Counter()
            for (answer, used), count in counts.items():
                if used <= there:
                    given[answer] += count
            outputs.append(frozenset(given.items()))
        if tuple(outputs) in seen:
            return False
        seen.add(tuple(outputs))
    return True
