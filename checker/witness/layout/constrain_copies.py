"""What holds in and between the copies of a match, as difference constraints."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise

from ontoweir.checker.model.solve_differences import Edge, Var
from ontoweir.checker.model.type_limits import has_few_digits
from ontoweir.checker.witness.layout.copies import Copies, Spread
from ontoweir.checker.witness.layout.plan_layouts import is_single
from ontoweir.rewriter.model.spj import Attribute


def constrain_copies(
    copies: Copies, spread: Spread, statics: Mapping[int, int | Fraction]
) -> list[Edge] | None:
    """The constraints of a layout; None: it cannot be laid out.

    Args:
        copies: of the match.
        spread: which values are kept apart, although the query does not ask for it.
        statics: the values of static data, where it is given already.
    """
    form, layout = copies.form, copies.layout
    if form.members[layout.optional].finite:
        return None
    edges: list[Edge] = [
        (("v", index, "anchor"), ("v", index), -(form.classes[index].grain or 1))
        for index in sorted(copies.folded)
    ]
    for index, known in statics.items():
        edges.append((copies.value(index, 0), ("zero",), known))
        edges.append((("zero",), copies.value(index, 0), -known))
    for copy in range(copies.size):
        edges.extend(_within(copies, copy))
    for copy in range(copies.half - 1):
        following = _following(copies, copy)
        if following is None:
            return None
        edges.extend(following)
    edges.extend(_before(copies))
    if layout.ranked:
        edges.extend(_ranked(copies))
    if spread in (Spread.KEYS, Spread.ROWS, Spread.OPEN):
        edges.extend(_unique(copies))
    return edges


def _within(copies: Copies, copy: int) -> Iterable[Edge]:
    """What the query says of one match."""
    form, val, time = copies.form, copies.value, copies.time
    for t in form.times:
        yield time(t.later, copy), time(t.earlier, copy), t.steps
    for m in form.members:
        if m.last is not None:
            yield time(m.index, copy), ("zero",), m.last
        yield ("zero",), time(m.index, copy), -max(m.first or 0, 0) - copies.open_steps
    for q in form.inequalities:
        slack = copies.gap(1, q.x, q.y) if q.strict else 0
        yield val(q.x, copy), val(q.y, copy), q.limit - slack
    for u in form.disequalities:
        if u.x in copies.shared or u.y in copies.shared:
            continue  # either may be the less, as there is room (keep_unequal)
        apart = copies.gap(form.unit, u.x, u.y)
        if copies.layout.above:
            yield val(u.y, copy), val(u.x, copy), -u.shift - apart
        else:
            yield val(u.x, copy), val(u.y, copy), u.shift - apart
    yield from _local(copies, copy)


def _following(copies: Copies, copy: int) -> list[Edge] | None:
    """What the layout says of a copy and the next one."""
    form, layout, val, time = copies.form, copies.layout, copies.value, copies.time
    edges: list[Edge] = []
    for index, direction in layout.chains:
        group = form.classes[index]
        if index in copies.shared or has_few_digits(form, copies.catalog, group):
            return None
        low, high = (copy, copy + 1) if direction > 0 else (copy + 1, copy)
        edges.append((val(index, low), val(index, high), -(group.grain or copies.gap(1, index))))
    for x, y, limit, step in layout.between:
        near, far = (copy, copy + 1) if step > 0 else (copy + 1, copy)
        edges.append((val(y, near), val(x, far), -limit - copies.gap(form.unit, x, y)))
    for x, y, shift, step in layout.equal:
        near, far = (copy, copy + 1) if step > 0 else (copy + 1, copy)
        edges.append((val(x, far), val(y, near), shift))
        edges.append((val(y, near), val(x, far), -shift))
    for member in layout.before:
        if not form.members[member].finite:
            spaced = copies.open_steps * form.members[member].spacing
            edges.append((time(member, copy), time(member, copy + 1), -1 - spaced))
    if layout.sequence is not None:
        first, second = layout.sequence
        edges.append((time(first, copy), time(second, copy), -1))
        edges.append((time(second, copy), time(first, copy + 1), -1))
    return edges


def _before(copies: Copies) -> Iterable[Edge]:
    """The members before the suffixes are so in all copies."""
    form, layout, time = copies.form, copies.layout, copies.time
    single = {m.index for m in form.members if is_single(form, layout, m.index)}
    for copy in range(copies.half):
        for other in range(copies.half, copies.size) if layout.again else range(copies.size):
            for k in layout.before | single:
                for late in range(len(form.members)):
                    if late in layout.before and not layout.again:
                        continue
                    if late not in single:
                        yield time(k, copy), time(late, other), -1


def _ranked(copies: Copies) -> Iterable[Edge]:
    """The small values are further away than the optional ones are apart."""
    index, _ = copies.layout.chains[0]
    some = (copies.size + 1) // 4
    grain = copies.form.classes[index].grain or copies.gap(1, index)
    smallest = copies.value(index, 2 * some - 1)
    yield copies.value(index, some), smallest, some * grain
    yield copies.value(index, 2 * some), smallest, -(some + 1) * grain


def _local(copies: Copies, copy: int) -> Iterable[Edge]:
    """What P⁺ says of every pair of classes, and of each alone."""
    form, val, heads = copies.form, copies.value, copies.form.class_nodes
    for x in form.classes:
        up, down = form.bounds.limit(heads[x.index], 0), form.bounds.limit(0, heads[x.index])
        slack = copies.gap(1, x.index)
        if up is not None:
            yield val(x.index, copy), ("zero",), up.value - (slack if up.strict else 0)
        if down is not None:
            yield ("zero",), val(x.index, copy), down.value - (slack if down.strict else 0)
        for y in form.classes:
            if x.index != y.index:
                limit = form.bounds.limit(heads[x.index], heads[y.index])
                if limit is not None:
                    slack = copies.gap(1, x.index, y.index) if limit.strict else 0
                    yield val(x.index, copy), val(y.index, copy), limit.value - slack


def _unique(copies: Copies) -> Iterable[Edge]:
    """Key columns of a stream's different tuples get different values, in some order."""
    form, val = copies.form, copies.value
    chains: dict[tuple[str, str], list[Var]] = {}
    for m in form.members:
        stream = copies.catalog.streams[m.stream]
        for key in stream.keys:
            for column in key:
                index = form.class_of.get(Attribute(m.alias, column))
                if index is not None and index not in copies.shared:
                    chain = chains.setdefault((m.stream, column), [])
                    values = (val(index, copy) for copy in range(copies.size))
                    chain.extend(value for value in values if value not in chain)
    for chain in chains.values():
        for low, high in pairwise(chain):
            if low != high:
                yield low, high, -form.unit
