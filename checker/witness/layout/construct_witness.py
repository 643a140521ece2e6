"""Lay out copies of a match in time and value, by difference constraints."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from ontoweir.checker.model.normal_form import NormalForm, ValueClass
from ontoweir.checker.model.solve_differences import Edge, Var, solve_differences
from ontoweir.checker.model.type_limits import listed_values, type_limits
from ontoweir.checker.witness.growth.compute_value import NoRowError
from ontoweir.checker.witness.layout.constrain_copies import constrain_copies
from ontoweir.checker.witness.layout.constrain_disequalities import constrain_disequalities
from ontoweir.checker.witness.layout.copies import Spread, make_copies
from ontoweir.checker.witness.layout.hold_far import check_far
from ontoweir.checker.witness.layout.hold_open import hold_open
from ontoweir.checker.witness.layout.make_rows import make_rows
from ontoweir.checker.witness.layout.plan_layouts import Layout
from ontoweir.checker.witness.layout.unused_columns import UnusedColumns
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog

Statics: TypeAlias = Mapping[int, int | Fraction]
"""The values of classes that static data limits, by class."""

_FAR = 1 << 60
"""Limits beyond it (those of 64 bits) matter only where a solution breaks them."""

_MAX_CLASHES = 40
"""A layout whose values clash again and again with what they must not be is given up."""


def construct_witness(
    form: NormalForm,
    catalog: Catalog,
    layout: Layout,
    size: int,
    spread: Spread,
    statics: Statics | None = None,
    *,
    least: bool = False,
) -> tuple[Witness, Statics] | None:
    """Data for a layout, and the values that static data has there.

    Args:
        form: the disjunct.
        catalog: its tables.
        layout: what is laid out.
        size: how many optional tuples.
        spread: which values are kept apart, although the query does not ask for it.
        statics: the values of static data, where it is given already.
        least: static data has the least values that will do, instead of great ones.
    """
    copies = 4 * size - 1 if layout.ranked else size + 1 if layout.anchored else size
    copies = 2 * size if layout.again else copies
    laid_out = _lay_out(form, catalog, layout, copies, spread, statics or {}, least)
    if laid_out is None:
        return None
    witness, values = laid_out
    if layout.ranked:
        # `size` great values, the optional ones, and later, for suffix i, 2i - 1 small ones: of k
        # optional tuples medians (size + k) / 2 - i + 1 from below are seen (citations, 8)
        rows = witness.optional
        small = rows[2 * size :]
        witness = Witness(
            size,
            (*witness.fixed, *rows[:size]),
            rows[size : 2 * size],
            tuple(small[: 2 * i - 1] for i in range(1, size + 1)),
        )
    elif layout.anchored:
        anchor, *optional = witness.optional
        first, *suffixes = witness.suffixes
        witness = Witness(
            size,
            (*witness.fixed, anchor),
            tuple(optional),
            tuple((*first, *suffix) for suffix in suffixes),
        )
    if spread is Spread.OPEN:
        witness = hold_open(witness, catalog)
    return witness, values


def _lay_out(
    form: NormalForm,
    catalog: Catalog,
    layout: Layout,
    size: int,
    spread: Spread,
    statics: Statics,
    least: bool,
) -> tuple[Witness, Statics] | None:
    copies = make_copies(form, catalog, layout, size, spread)
    val = copies.value
    edges = constrain_copies(copies, spread, statics)
    if edges is None:
        return None
    unequal = constrain_disequalities(copies, spread)
    solution = _differ(form, edges, unequal)
    if solution is None:
        return None
    limits: list[Edge] = [
        edge
        for c in form.classes
        for var in dict.fromkeys(val(c.index, n) for n in range(size))
        for edge in type_limits(form, catalog, c, var)
        if (least and -_FAR < edge[2] < _FAR) or not _keeps(solution, [edge])
    ]
    if limits:
        # only where they are needed: solutions are great, and dates would lie at the last one
        edges.extend(limits)
        solution = _differ(form, edges, unequal)
        if solution is None:
            return None
    settled = -1
    while settled < len(edges):  # each time one more class stays at its value
        settled = len(edges)
        for c in form.classes:
            solution = _listed(form, edges, unequal, c, val(c.index, 0), solution)
            if solution is None:
                return None
    if least:
        for c in form.classes:
            if c.domain.within:
                solution = _lowered(form, edges, unequal, val(c.index, 0), solution)
    values = {c.index: solution.get(val(c.index, 0), 0) for c in form.classes if c.domain.within}
    try:
        check_far(form, catalog)
        spare = UnusedColumns(catalog, stay_open=spread is Spread.OPEN)
        return make_rows(form, catalog, layout, size, solution, val, spare), values
    except NoRowError:
        return None


def _listed(
    form: NormalForm,
    edges: list[Edge],
    unequal: Sequence[Edge],
    group: ValueClass,
    var: Var,
    solution: dict[Var, int | Fraction],
) -> dict[Var, int | Fraction] | None:
    """A solution in which an enumerated class has one of its values, which then stays."""
    values = listed_values(form, group)
    if not values or solution.get(var, 0) in values:
        return solution
    zero: Var = ("zero",)
    for value in values:
        fixed = [(var, zero, value), (zero, var, -value)]
        solved = _differ(form, [*edges, *fixed], unequal)
        if solved is not None:
            edges.extend(fixed)
            return solved
    return None


def _keeps(solution: Mapping[Var, int | Fraction], edges: Iterable[Edge]) -> bool:
    return all(solution.get(a, 0) - solution.get(b, 0) <= limit for a, b, limit in edges)


def _grain(form: NormalForm, var: Var) -> int:
    match var[0]:
        case "v":
            return form.classes[var[1]].grain
        case "t":
            return form.members[var[1]].spacing
        case _:
            return 1


def _lowered(
    form: NormalForm,
    edges: list[Edge],
    unequal: Sequence[Edge],
    var: Var,
    solution: dict[Var, int | Fraction],
) -> dict[Var, int | Fraction]:
    """A solution with the least value of a variable (to within a step of its grain), which then
    stays at most that."""
    if var not in solution:
        return solution
    grain = _grain(form, var) or form.unit
    zero: Var = ("zero",)
    step = grain << 20
    while step >= grain:
        lower = _differ(form, [*edges, (var, zero, solution[var] - step)], unequal)
        if lower is None:
            step //= 2
        else:
            solution = lower
            if step == grain << 20:  # nothing limits it from below
                break
    edges.append((var, zero, solution[var]))
    return solution


def _differ(
    form: NormalForm, edges: Sequence[Edge], unequal: Sequence[Edge]
) -> dict[Var, int | Fraction] | None:
    """A solution that also keeps apart what must differ: all that clashes on one side, or else
    one after the other on the side that has room."""
    chosen = list(edges)
    solution = _solve(form, chosen)
    for _ in range(_MAX_CLASHES):
        if solution is None:
            return None
        clashes = [u for u in unequal if solution.get(u[0], 0) - solution.get(u[1], 0) == u[2]]
        if not clashes:
            return solution
        sides = [[_apart(form, u, above) for u in clashes] for above in (True, False)]
        for side in sides:
            together = _solve(form, [*chosen, *side])
            if together is not None:
                chosen += side
                solution = together
                break
        else:
            one = next(
                (
                    (side[0], solved)
                    for side in sides
                    if (solved := _solve(form, [*chosen, side[0]])) is not None
                ),
                None,
            )
            if one is None:
                return None
            chosen.append(one[0])
            solution = one[1]
    return None


def _solve(form: NormalForm, edges: Sequence[Edge]) -> dict[Var, int | Fraction] | None:
    return solve_differences(edges, lambda var: _grain(form, var))


def _apart(form: NormalForm, unequal: Edge, above: bool) -> Edge:
    """`first - second` is more, or less, than what it must not be."""
    x, y, limit = unequal
    step = form.unit_of(form.classes[x[1]].kind) if x[0] == "v" else 1
    return (y, x, -limit - step) if above else (x, y, limit - step)
