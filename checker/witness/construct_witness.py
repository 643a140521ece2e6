"""Lay out copies of a match in time and value, by difference constraints."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, TypeAlias

from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.checker.model.solve_differences import Edge, Var, solve_differences
from ontoweir.checker.model.type_limits import has_few_digits, listed_values, type_limits
from ontoweir.checker.model.units import Units
from ontoweir.checker.witness.make_rows import make_rows
from ontoweir.checker.witness.plan_layouts import Layout, is_single
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Op


class Spread(StrEnum):
    """Which values of a layout are kept apart, although the query does not ask for it: those of
    key columns, none, or of a stream that occurs several times those of the occurrences."""

    KEYS = "keys"
    NONE = "none"
    ROLES = "roles"


Statics: TypeAlias = Mapping[int, int | Fraction]
"""The values of classes that static data limits, by class."""

_FAR = 1 << 60
"""Limits beyond it (those of 64 bits) matter only where a solution breaks them."""

_MOST_CLASHES = 40
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
    found = _lay_out(form, catalog, layout, copies, spread, statics or {}, least)
    if found is None:
        return None
    witness, values = found
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
    shared = {c.index for c in form.classes if c.domain.finite}
    folded = {f.value for f in form.folds or ()} & shared if layout.anchored else set()
    edges: list[Edge] = [
        (("v", index, "anchor"), ("v", index), -(form.classes[index].grain or 1))
        for index in sorted(folded)
    ]

    half = size // 2 if layout.again else size
    shown = {c.index for c in form.classes if c.projected} | {f.value for f in form.folds or ()}

    def val(index: int, copy: int) -> Var:
        if copy == 0 and index in folded:
            return ("v", index, "anchor")
        if layout.again and index in shown:
            copy %= half
        return ("v", index) if index in shared else ("v", index, copy)

    def time(member: int, copy: int) -> Var:
        return ("t", member, 0 if is_single(form, layout, member) else copy)

    for index, known in statics.items():
        edges.append((val(index, 0), ("zero",), known))
        edges.append((("zero",), val(index, 0), -known))
    if form.members[layout.optional].finite:
        return None

    for copy in range(size):
        for t in form.times:
            edges.append((time(t.later, copy), time(t.earlier, copy), t.steps))
        for m in form.members:
            if m.last is not None:
                edges.append((time(m.index, copy), ("zero",), m.last))
            edges.append((("zero",), time(m.index, copy), -max(m.first or 0, 0)))
        for q in form.inequalities:
            slack = _gap(form, size, 1, q.x, q.y) if q.strict else 0
            edges.append((val(q.x, copy), val(q.y, copy), q.limit - slack))
        for u in form.disequalities:
            if u.x in shared or u.y in shared:
                continue  # either may be the less, as there is room (_unequal)
            apart = _gap(form, size, form.unit, u.x, u.y)
            if layout.above:
                edges.append((val(u.y, copy), val(u.x, copy), -u.shift - apart))
            else:
                edges.append((val(u.x, copy), val(u.y, copy), u.shift - apart))
        edges.extend(_local(form, val, copy, size))
    for copy in range(half - 1):
        for index, direction in layout.chains:
            if index in shared or has_few_digits(form, catalog, form.classes[index]):
                return None
            low, high = (copy, copy + 1) if direction > 0 else (copy + 1, copy)
            grain = form.classes[index].grain or _gap(form, size, 1, index)
            edges.append((val(index, low), val(index, high), -grain))
        for x, y, limit, step in layout.between:
            near, far = (copy, copy + 1) if step > 0 else (copy + 1, copy)
            edges.append((val(y, near), val(x, far), -limit - _gap(form, size, form.unit, x, y)))
        for x, y, shift, step in layout.equal:
            near, far = (copy, copy + 1) if step > 0 else (copy + 1, copy)
            edges.append((val(x, far), val(y, near), shift))
            edges.append((val(y, near), val(x, far), -shift))
        for member in layout.before:
            if form.members[member].finite:
                continue
            edges.append((time(member, copy), time(member, copy + 1), -1))
        if layout.sequence is not None:
            first, second = layout.sequence
            edges.append((time(first, copy), time(second, copy), -1))
            edges.append((time(second, copy), time(first, copy + 1), -1))
    single = {m.index for m in form.members if is_single(form, layout, m.index)}
    for copy in range(half):
        for other in range(half, size) if layout.again else range(size):
            for k in layout.before | single:
                for late in range(len(form.members)):
                    if late in layout.before and not layout.again:
                        continue
                    if late not in single:
                        edges.append((time(k, copy), time(late, other), -1))
    if layout.ranked:
        index, _ = layout.chains[0]
        some = (size + 1) // 4
        grain = form.classes[index].grain or _gap(form, size, 1, index)
        # the small values are further away than the optional ones are apart
        smallest = val(index, 2 * some - 1)
        edges.append((val(index, some), smallest, some * grain))
        edges.append((val(index, 2 * some), smallest, -(some + 1) * grain))
    if spread is Spread.KEYS:
        edges.extend(_unique(form, catalog, val, shared, size))
    unequal = _unequal(form, val, size)
    if spread is Spread.ROLES:
        unequal += _roles(form, layout, val, size)
        for one, two in combinations(form.members, 2):
            if one.stream == two.stream:  # more of them than a timestamp may have
                pairs = {(time(one.index, n), time(two.index, n)) for n in range(size)}
                unequal.extend((*pair, 0) for pair in sorted(pairs) if pair[0] != pair[1])
    for d in form.time_differences:
        pairs = {(time(d.left, copy), time(d.right, copy)) for copy in range(size)}
        unequal.extend((left, right, d.steps) for left, right in sorted(pairs))
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
    return make_rows(form, catalog, layout, size, solution, val), values


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
        found = _differ(form, [*edges, *fixed], unequal)
        if found is not None:
            edges.extend(fixed)
            return found
    return None


def _keeps(solution: Mapping[Var, int | Fraction], edges: Iterable[Edge]) -> bool:
    return all(solution.get(a, 0) - solution.get(b, 0) <= limit for a, b, limit in edges)


def _grain(form: NormalForm, var: Var) -> int:
    return form.classes[var[1]].grain if var[0] == "v" else 1


def _gap(form: NormalForm, size: int, otherwise: int, *values: int) -> int | Fraction:
    """How far apart values of classes are put: in dense ones so near that there is room."""
    if all(form.classes[v].grain == 0 for v in values):
        return Fraction(form.unit, 64 << size.bit_length())
    return otherwise


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


def _roles(form: NormalForm, layout: Layout, val: Any, size: int) -> list[Edge]:
    """A value that tells copies apart is none that another occurrence of the stream has in that
    column, in any copy: whose tuple would otherwise do for it."""
    streams = {m.alias: m.stream for m in form.members}
    found: dict[Edge, None] = {}
    for index, _ in layout.chains:
        for a, shift in form.classes[index].attributes:
            for other in form.classes:
                for b, more in other.attributes:
                    if other.index == index or a.column != b.column or a.alias == b.alias:
                        continue
                    if streams.get(a.alias, "") != streams.get(b.alias):
                        continue
                    for one in range(size):
                        for copy in range(size):
                            pair = val(index, one), val(other.index, copy)
                            found[(*pair, more - shift)] = None
    return list(found)


def _unequal(form: NormalForm, val: Any, size: int) -> list[Edge]:
    """Every `first - second != limit` that the selection asks for, of every copy."""
    found: dict[Edge, None] = {}
    for c in form.query.conditions:
        if not isinstance(c, Compare) or c.op is not Op.NE or c.left not in form.class_of:
            continue
        x = form.classes[form.class_of[c.left]]
        shift = -dict(x.attributes)[c.left]
        for copy in range(size):
            if isinstance(c.right, Attribute):
                y = form.classes[form.class_of[c.right]]
                offset = Fraction(c.offset) * form.unit + dict(y.attributes)[c.right]
                found[(val(x.index, copy), val(y.index, copy), shift + offset)] = None
            elif x.kind is not Kind.STRING:
                number = Units(form.unit, {}).value(c.right.value, x.kind)
                found[(val(x.index, copy), ("zero",), shift + number)] = None
    return list(found)


def _differ(
    form: NormalForm, edges: Sequence[Edge], unequal: Sequence[Edge]
) -> dict[Var, int | Fraction] | None:
    """A solution that also keeps apart what must differ: all that clashes on one side, or else
    one after the other on the side that has room."""
    chosen = list(edges)
    solution = _solve(form, chosen)
    for _ in range(_MOST_CLASHES):
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
                    (side[0], found)
                    for side in sides
                    if (found := _solve(form, [*chosen, side[0]])) is not None
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
    number = x[0] == "v" and form.classes[x[1]].kind in (Kind.NUMBER, Kind.FLOAT)
    step = form.unit if number else 1
    return (y, x, -limit - step) if above else (x, y, limit - step)


def _local(form: NormalForm, val: Any, copy: int, size: int) -> Iterable[Edge]:
    """What P⁺ says of every pair of classes, and of each alone."""
    heads = form.class_nodes
    for x in form.classes:
        up, down = form.bounds.limit(heads[x.index], 0), form.bounds.limit(0, heads[x.index])
        slack = _gap(form, size, 1, x.index)
        if up is not None:
            yield val(x.index, copy), ("zero",), up.value - (slack if up.strict else 0)
        if down is not None:
            yield ("zero",), val(x.index, copy), down.value - (slack if down.strict else 0)
        for y in form.classes:
            if x.index != y.index:
                limit = form.bounds.limit(heads[x.index], heads[y.index])
                if limit is not None:
                    slack = _gap(form, size, 1, x.index, y.index) if limit.strict else 0
                    yield val(x.index, copy), val(y.index, copy), limit.value - slack


def _unique(
    form: NormalForm, catalog: Catalog, val: Any, shared: set[int], size: int
) -> Iterable[Edge]:
    """Key columns of a stream's different tuples get different values, in some order."""
    chains: dict[tuple[str, str], list[Var]] = {}
    for m in form.members:
        stream = catalog.streams[m.stream]
        for key in stream.keys:
            for column in key:
                index = form.class_of.get(Attribute(m.alias, column))
                if index is not None and index not in shared:
                    chain = chains.setdefault((m.stream, column), [])
                    chain.extend(val(index, c) for c in range(size) if val(index, c) not in chain)
    for chain in chains.values():
        for low, high in pairwise(chain):
            if low != high:
                yield low, high, -form.unit
