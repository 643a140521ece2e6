"""Witnesses of unbounded memory (theory §9): optional tuples that later tuples tell apart.

For a failed condition of the lag criterion, N copies of a match are laid out in time and value by
difference constraints, so that each optional tuple is needed by its own suffix; the relational
answer, computed naively, then confirms it. What is not confirmed is not a witness.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, islice, product

from ontoweir.checker.model.criterion import Failure
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.witness.confirm.confirm_preceding import find_preceding
from ontoweir.checker.witness.confirm.confirm_witness import confirm_witness
from ontoweir.checker.witness.evaluate_naively import TooLongError
from ontoweir.checker.witness.is_legal import is_legal
from ontoweir.checker.witness.layout.construct_witness import Statics, construct_witness
from ontoweir.checker.witness.layout.copies import Spread
from ontoweir.checker.witness.layout.derive_rows import without_derived
from ontoweir.checker.witness.layout.plan_layouts import Layout, plan_layouts
from ontoweir.checker.witness.outgrows_lags import outgrows_lags
from ontoweir.checker.witness.outgrows_statics import outgrows_statics
from ontoweir.checker.witness.outlasts_buckets import outlasts_buckets
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.model.watch_time import phase

MAX_TRIES = 60
"""How many layouts are tried of a disjunct: of many occurrences there are many, and much alike; and
as many again in which values stay open that a rule may close."""
_BOTH_WAYS = 4
"""Of at most so many members, values that differ are laid out in either order: it takes as long
again, and of more members one order takes seconds."""


def find_witness(
    form: NormalForm,
    union: SpjUnion,
    failures: Sequence[Failure],
    catalog: Catalog,
    *,
    size: int = 4,
    again: bool = True,
) -> Witness | None:
    """A confirmed witness with `size` optional tuples for some failure, or None.

    Only a layout that also has room for three times as many copies, with the same static values,
    is tried, and only if those are legal too: a domain that is finite without our knowing it
    must not pass for an unbounded one.
    What static data limits could still pass by its slack: there the larger one is confirmed too.
    """
    try:
        most = MAX_TRIES * (2 if _may_stay_open(form, catalog) else 1)
        with phase("looking for a counterexample", most) as done:
            return _find(form, union, failures, catalog, size, again, done)
    except TooLongError:  # of many occurrences of one stream
        return None


def _find(
    form: NormalForm,
    union: SpjUnion,
    failures: Sequence[Failure],
    catalog: Catalog,
    size: int,
    again: bool,
    done: Callable[[int], None],
) -> Witness | None:
    streams = [m.stream for m in form.members]
    spreads = [Spread.KEYS, Spread.NONE]
    spreads += [Spread.ROLES] if len(set(streams)) < len(streams) else []
    relations = [o.table for m in form.members for o in m.statics]
    spreads += [Spread.ROWS] if len(set(relations)) < len(relations) else []
    finite = {c.index for c in form.classes if c.domain.finite}
    ordered = len(form.members) <= _BOTH_WAYS and any(
        not {d.x, d.y} & finite for d in form.disequalities
    )
    layouts = []
    for failure in failures:
        planned = [p for p in plan_layouts(form, failure) if again or not p.again]
        # the other way round too, whichever is written first
        layouts += planned + [replace(p, above=True) for p in planned if ordered]
    choices = [islice(product(layouts, spreads), MAX_TRIES)]
    if _may_stay_open(form, catalog):
        choices.append(islice(product(layouts, [Spread.OPEN]), MAX_TRIES))
    for tries, (layout, spread) in enumerate(chain.from_iterable(choices), 1):
        done(tries)
        constructed = construct_witness(form, catalog, layout, size, spread)
        if constructed is None or not confirm_witness(
            union, catalog, constructed[0], by_median=layout.ranked
        ):
            continue
        if _has_room(form, union, catalog, layout, spread, *constructed):
            return _without_derived(constructed[0], catalog)
    return None


def _may_stay_open(form: NormalForm, catalog: Catalog) -> bool:
    """Whether a rule closes values of a stream, each of which may stay open for ever."""
    rules = (rule for m in form.members for rule in catalog.streams[m.stream].closing)
    return any(rule.span_us is None for rule in rules)


def _has_room(
    form: NormalForm,
    union: SpjUnion,
    catalog: Catalog,
    layout: Layout,
    spread: Spread,
    smaller: Witness,
    statics: Statics,
) -> bool:
    """Whether three times as many copies fit, with static values that are great, and least; and
    more than that: what lags say to be near is no farther apart, and buckets of time are over."""
    size, choices = smaller.size, [statics]
    if not outlasts_buckets(form, union, catalog, layout, spread, smaller):
        return False
    if statics:
        least = construct_witness(form, catalog, layout, size, spread, least=True)
        if least is None:
            return False
        choices.append(least[1])
    for chosen in choices:
        larger = construct_witness(form, catalog, layout, 3 * size, spread, chosen)
        if larger is None or not is_legal(larger[0], catalog):
            return False
        if outgrows_lags(smaller, larger[0], catalog) or outgrows_statics(larger[0], catalog):
            return False
        again = bool(statics) or find_preceding(union) is not None
        if again and not confirm_witness(union, catalog, larger[0], by_median=layout.ranked):
            return False
    return True


def _without_derived(witness: Witness, catalog: Catalog) -> Witness:
    """The data of a witness: derived columns are not in it."""

    def strip(rows: Sequence[WitnessRow]) -> tuple[WitnessRow, ...]:
        return tuple(
            replace(r, values=without_derived(r.values, catalog.table(r.table))) for r in rows
        )

    return replace(
        witness,
        fixed=strip(witness.fixed),
        optional=strip(witness.optional),
        suffixes=tuple(map(strip, witness.suffixes)),
    )
