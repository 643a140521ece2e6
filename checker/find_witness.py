"""Witnesses of unbounded memory (theory §9): optional tuples that later tuples tell apart.

For a failed condition of the lag criterion, N copies of a match are laid out in time and value by
difference constraints, so that each optional tuple is needed by its own suffix; the relational
answer, computed naively, then confirms it. What is not confirmed is not a witness.
"""

from collections.abc import Sequence

from ontoweir.checker.confirm_witness import confirm_witness, is_legal
from ontoweir.checker.decide_lag import Failure
from ontoweir.checker.lay_out_copies import Statics, lay_out_copies
from ontoweir.checker.normal_form import NormalForm
from ontoweir.checker.plan_layouts import Layout, plan_layouts
from ontoweir.checker.witness import Witness
from ontoweir.mappings.catalog import Catalog
from ontoweir.rewriter.spj import SpjUnion


def find_witness(
    form: NormalForm,
    union: SpjUnion,
    failures: Sequence[Failure],
    catalog: Catalog,
    *,
    size: int = 4,
) -> Witness | None:
    """A confirmed witness with `size` optional tuples for some failure, or None.

    Only a layout that also has room for three times as many copies, with the same static values,
    is tried, and only if those are legal too: a domain that is finite without our knowing it
    must not pass for an unbounded one.
    What static data limits could still pass by its slack: there the larger one is confirmed too.
    """
    for failure in failures:
        for layout in plan_layouts(form, failure):
            for unique in (True, False):
                found = lay_out_copies(form, catalog, layout, size, unique)
                if found is None or not confirm_witness(
                    union, catalog, found[0], ranked=layout.ranked
                ):
                    continue
                if _has_room(form, union, catalog, layout, size, unique, found[1]):
                    return found[0]
    return None


def _has_room(
    form: NormalForm,
    union: SpjUnion,
    catalog: Catalog,
    layout: Layout,
    size: int,
    unique: bool,
    statics: Statics,
) -> bool:
    """Whether three times as many copies fit, with static values that are great, and least."""
    choices = [statics]
    if statics:
        least = lay_out_copies(form, catalog, layout, size, unique, least=True)
        if least is None:
            return False
        choices.append(least[1])
    for chosen in choices:
        larger = lay_out_copies(form, catalog, layout, 3 * size, unique, chosen)
        if larger is None or not is_legal(larger[0], catalog):
            return False
        if statics and not confirm_witness(union, catalog, larger[0], ranked=layout.ranked):
            return False
    return True
