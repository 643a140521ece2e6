"""Witnesses of unbounded memory (theory §9): optional tuples that later tuples tell apart.

For a failed condition of the lag criterion, N copies of a match are laid out in time and value by
difference constraints, so that each optional tuple is needed by its own suffix; the relational
answer, computed naively, then confirms it. What is not confirmed is not a witness.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from ontoweir.checker.decide_lag import Failure
from ontoweir.checker.evaluate_naively import Instance, evaluate_naively
from ontoweir.checker.normal_form import Kind, NormalForm
from ontoweir.mappings.catalog import Catalog, Column, DecimalType, FloatType, Relation, Stream
from ontoweir.rewriter.spj import Attribute, Compare, Op, SpjUnion

Var: TypeAlias = tuple[Any, ...]
Edge: TypeAlias = tuple[Var, Var, int | Fraction]
"""`first - second <= limit`."""


@dataclass(frozen=True, slots=True)
class WitnessRow:
    """A tuple of a table; `step` its timestamp (None: static)."""

    table: str
    step: int | None
    values: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A fixed part, `size` optional tuples, and one suffix for each: any algorithm must tell all
    subsets of the optional tuples apart. Confirmed by the relational answer."""

    size: int
    fixed: tuple[WitnessRow, ...]
    optional: tuple[WitnessRow, ...]
    suffixes: tuple[tuple[WitnessRow, ...], ...]


def find_witness(
    form: NormalForm,
    union: SpjUnion,
    failures: Sequence[Failure],
    catalog: Catalog,
    *,
    size: int = 4,
) -> Witness | None:
    """A confirmed witness with `size` optional tuples for some failure, or None."""
    mixed = form.unit > 1 or any(g.grain == 0 for g in form.classes)
    passes = (True, False) if mixed else (False,)
    for failure in failures:
        for layout in _layouts(form, failure):
            for unique, coarse in product((True, False), passes):
                witness = _lay_out(form, catalog, layout, size, unique, coarse)
                if witness is not None and _confirms(union, catalog, witness):
                    return witness
    return None


@dataclass(frozen=True, slots=True)
class _Layout:
    """What is laid out: the member whose tuples are optional, the members that come before the
    suffix, and constraints between copies m and m+1 (as functions of m)."""

    optional: int
    before: frozenset[int]
    chains: tuple[tuple[int, int], ...]
    """(class, direction): values of the class rise (1) or fall (-1) from copy to copy."""
    between: tuple[tuple[int, int, int | Fraction, int], ...]
    """(x, y, limit, step): value(x) of copy m + step exceeds value(y) of copy m by > limit."""
    sequence: tuple[int, int] | None
    """(a, b): copies of a and b alternate in time: a1 < b1 < a2 < b2 …"""


def _reach(form: NormalForm, start: Iterable[int]) -> frozenset[int]:
    reached = set(start)
    while True:
        more = {
            j for i in reached for j in range(len(form.members)) if form.lag[i][j] is not None
        } - reached
        if not more:
            return frozenset(reached)
        reached |= more


def _layouts(form: NormalForm, failure: Failure) -> Iterable[_Layout]:
    if failure.condition == "C3":
        yield from _lockstep(form, failure)
        return
    if failure.value is None:
        return
    holders = list(failure.members) or sorted(form.classes[failure.value].members)
    for optional in holders:
        before = _reach(form, {optional})
        if failure.condition == "C1":
            everyone = frozenset(range(len(form.members)))
            for first in (everyone, before):
                for direction in (1, -1):
                    chain = ((failure.value, direction),)
                    yield _Layout(optional, first, chain, (), None)
        elif failure.condition == "E3":
            for q in form.inequalities:
                if q.clips or not {q.x, q.y} & {
                    c.index for c in form.classes if optional in c.members
                }:
                    continue
                yield from _staircase(form, optional, before, q.x, q.y, q.limit)
        else:
            for direction in (1, -1):
                yield _Layout(optional, before, ((failure.value, direction),), (), None)


def _staircase(
    form: NormalForm,
    optional: int,
    before: frozenset[int],
    x: int,
    y: int,
    limit: int | Fraction,
) -> Iterable[_Layout]:
    """x_m <= y_m + limit < x_{m+1}: suffix m (with y_m or x_m) tells copies apart."""
    yield _Layout(optional, before, ((x, 1), (y, 1)), ((x, y, limit, 1),), None)


def _lockstep(form: NormalForm, failure: Failure) -> Iterable[_Layout]:
    """Two independent comparisons of a comparable pair, one improving while the other worsens."""
    a, b = failure.members
    before = _reach(form, {a, b})
    open_ = [
        (q, sign, inside, outside)
        for q in form.inequalities
        if not q.clips
        for sign, inside, outside in ((1, q.x, q.y), (-1, q.y, q.x))
        if form.classes[inside].members & {a, b} and form.classes[outside].members - before
    ]
    for q1, s1, in1, out1 in open_:
        for q2, s2, in2, out2 in open_:
            if (in1, out1) == (in2, out2):
                continue
            # the first comparison's limits fall with m, the second's rise
            between = (
                _tight(s1, in1, out1, q1.limit, -1),
                _tight(s2, in2, out2, q2.limit, 1),
            )
            chains = ((in1, -s1), (in2, s2))
            if a == b:
                yield _Layout(a, before, chains, between, None)
                continue
            for pair in ((a, b), (b, a)):
                for optional in pair:
                    yield _Layout(optional, before, chains, between, pair)


def _tight(
    sign: int, inside: int, outside: int, limit: int | Fraction, step: int
) -> tuple[int, int, int | Fraction, int]:
    """The partner of copy m does not satisfy the comparison with the copy `step` further on."""
    if sign == 1:
        return (inside, outside, limit, step)
    return (outside, inside, limit, -step)


def _lay_out(
    form: NormalForm, catalog: Catalog, layout: _Layout, size: int, unique: bool, coarse: bool
) -> Witness | None:
    """Data for a layout. `coarse`: whole numbers only, which columns of every grain can hold."""
    shared = {c.index for c in form.classes if c.domain.finite}
    edges: list[Edge] = []

    def val(index: int, copy: int) -> Var:
        return ("v", index) if index in shared else ("v", index, copy)

    def time(member: int, copy: int) -> Var:
        return ("t", member, 0 if form.members[member].finite else copy)

    if form.members[layout.optional].finite:
        return None

    for copy in range(size):
        for t in form.times:
            edges.append((time(t.later, copy), time(t.earlier, copy), t.steps))
        for m in form.members:
            if m.last is not None:
                edges.append((time(m.index, copy), ("zero",), m.last))
            edges.append((("zero",), time(m.index, copy), -(m.first or 0)))
        for q in form.inequalities:
            edges.append((val(q.x, copy), val(q.y, copy), q.limit - (1 if q.strict else 0)))
        for u in form.disequalities:
            edges.append((val(u.x, copy), val(u.y, copy), u.shift - form.unit))
        edges.extend(_local(form, val, copy))
    for copy in range(size - 1):
        for index, direction in layout.chains:
            if index in shared:
                return None
            low, high = (copy, copy + 1) if direction > 0 else (copy + 1, copy)
            grain = form.classes[index].grain or Fraction(form.unit, 64)
            edges.append((val(index, low), val(index, high), -grain))
        for x, y, limit, step in layout.between:
            near, far = (copy, copy + 1) if step > 0 else (copy + 1, copy)
            edges.append((val(y, near), val(x, far), -limit - form.unit))
        for member in layout.before:
            if form.members[member].finite:
                continue
            edges.append((time(member, copy), time(member, copy + 1), -1))
        if layout.sequence is not None:
            first, second = layout.sequence
            edges.append((time(first, copy), time(second, copy), -1))
            edges.append((time(second, copy), time(first, copy + 1), -1))
    for copy in range(size):
        for other in range(size):
            for k in layout.before:
                for late in range(len(form.members)):
                    if late not in layout.before:
                        edges.append((time(k, copy), time(late, other), -1))
    if unique:
        edges.extend(_unique(form, catalog, val, shared, size))
    if coarse:
        edges = [
            (a, b, (limit // form.unit if "v" in (a[0], b[0]) else limit) * form.unit)
            for a, b, limit in edges
        ]
    unequal = _unequal(form, val, size)
    for d in form.time_differences:
        pairs = {(time(d.left, copy), time(d.right, copy)) for copy in range(size)}
        steps = d.steps * form.unit if coarse else d.steps
        unequal.extend((left, right, steps) for left, right in sorted(pairs))
    solution = _differ(form, edges, unequal, 12)
    if solution is not None and coarse:
        solution = {n: v // form.unit if n[0] == "t" else v for n, v in solution.items()}
    return None if solution is None else _rows(form, catalog, layout, size, solution, val)


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
            elif x.kind in (Kind.NUMBER, Kind.FLOAT) and not isinstance(c.right.value, str):
                number = Fraction(str(c.right.value)) * form.unit
                found[(val(x.index, copy), ("zero",), shift + number)] = None
    return list(found)


def _differ(
    form: NormalForm, edges: list[Edge], unequal: Sequence[Edge], tries: int
) -> dict[Var, int | Fraction] | None:
    """A solution that also keeps apart what must differ, by a few choices of a side."""
    solution = _solve(edges)
    if solution is None:
        return None
    clash = next(
        (u for u in unequal if solution.get(u[0], 0) - solution.get(u[1], 0) == u[2]), None
    )
    if clash is None:
        return solution
    if tries == 0:
        return None
    x, y, limit = clash
    for side in ((y, x, -limit - form.unit), (x, y, limit - form.unit)):
        found = _differ(form, [*edges, side], unequal, tries - 1)
        if found is not None:
            return found
    return None


def _local(form: NormalForm, val: Any, copy: int) -> Iterable[Edge]:
    """What P⁺ says of every pair of classes, and of each alone."""
    heads = form.class_nodes
    for x in form.classes:
        up, down = form.bounds.limit(heads[x.index], 0), form.bounds.limit(0, heads[x.index])
        if up is not None:
            yield val(x.index, copy), ("zero",), up.value - (1 if up.strict else 0)
        if down is not None:
            yield ("zero",), val(x.index, copy), down.value - (1 if down.strict else 0)
        for y in form.classes:
            if x.index != y.index:
                limit = form.bounds.limit(heads[x.index], heads[y.index])
                if limit is not None:
                    slack = 1 if limit.strict else 0
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
        for low, high in zip(chain, chain[1:], strict=False):
            if low != high:
                yield low, high, -form.unit


def _solve(edges: Sequence[Edge]) -> dict[Var, int | Fraction] | None:
    """Values with every difference within its limit, zero at ("zero",); None: there are none."""
    nodes: dict[Var, int | Fraction] = {("zero",): 0}
    for a, b, _ in edges:
        nodes.setdefault(a, 0)
        nodes.setdefault(b, 0)
    tightest: dict[tuple[Var, Var], int | Fraction] = {}
    for a, b, limit in edges:
        if a == b:
            if limit < 0:
                return None
            continue
        known = tightest.get((a, b))
        if known is None or limit < known:
            tightest[(a, b)] = limit
    for _ in range(len(nodes) + 1):
        changed = False
        for (a, b), limit in tightest.items():
            if nodes[b] + limit < nodes[a]:
                nodes[a] = nodes[b] + limit
                changed = True
        if not changed:
            zero = nodes[("zero",)]
            return {name: number - zero for name, number in nodes.items()}
    return None


def _rows(
    form: NormalForm,
    catalog: Catalog,
    layout: _Layout,
    size: int,
    solution: Mapping[Var, int | Fraction],
    val: Any,
) -> Witness:
    fresh = [10**6]
    statics: dict[tuple[str, tuple[tuple[str, Any], ...]], WitnessRow] = {}

    def values(alias: str, table: str, copy: int) -> tuple[tuple[str, Any], ...]:
        declared = catalog.table(table)
        found = []
        for column in declared.columns:
            index = form.class_of.get(Attribute(alias, column.name))
            if index is None:
                found.append((column.name, _spare(declared, column, fresh)))
                continue
            group = form.classes[index]
            shift = dict(group.attributes)[Attribute(alias, column.name)]
            number = solution.get(val(index, copy), 0) + shift
            allowed = group.domain.values if group.kind is Kind.STRING else None
            found.append((column.name, _decode(number, form.unit, group.kind, column, allowed)))
        return tuple(found)

    fixed: list[WitnessRow] = []
    optional: list[WitnessRow] = []
    suffixes: list[tuple[WitnessRow, ...]] = []
    for copy in range(size):
        suffix = []
        for m in form.members:
            row = WitnessRow(
                m.stream,
                int(solution[("t", m.index, 0 if m.finite else copy)]),
                values(m.alias, m.stream, copy),
            )
            if m.finite and copy:
                continue
            if m.index == layout.optional:
                optional.append(row)
            elif m.index in layout.before or m.finite:
                fixed.append(row)
            else:
                suffix.append(row)
            for o in m.statics:
                mentioned = {
                    c: v
                    for c, v in values(o.alias, o.table, copy)
                    if Attribute(o.alias, c) in form.class_of
                }
                key = (o.table, tuple(sorted(mentioned.items(), key=str)))
                if key not in statics:
                    statics[key] = WitnessRow(o.table, None, values(o.alias, o.table, copy))
        suffixes.append(tuple(suffix))
    rows = [*fixed, *optional, *(r for s in suffixes for r in s)]
    referenced = _referenced(catalog, rows, list(statics.values()), fresh)
    return Witness(size, (*statics.values(), *referenced, *fixed), tuple(optional), tuple(suffixes))


def _referenced(
    catalog: Catalog, rows: list[WitnessRow], statics: list[WitnessRow], fresh: list[int]
) -> list[WitnessRow]:
    """Rows of static relations that declared references demand."""
    made: dict[tuple[str, tuple[Any, ...]], WitnessRow] = {}
    there = [(r.table, dict(r.values)) for r in statics]
    for row in rows:
        stream = catalog.streams[row.table]
        have = dict(row.values)
        for ref in stream.references:
            wanted = tuple(have.get(c) for c in ref.columns)
            if None in wanted or (ref.relation, wanted) in made:
                continue
            if any(
                t == ref.relation and tuple(v.get(c) for c in ref.to) == wanted for t, v in there
            ):
                continue
            target = dict(zip(ref.to, wanted, strict=True))
            relation = catalog.relations[ref.relation]
            made[(ref.relation, wanted)] = WitnessRow(
                ref.relation,
                None,
                tuple(
                    (c.name, target.get(c.name, _spare(relation, c, fresh)))
                    for c in relation.columns
                ),
            )
    return list(made.values())


def _spare(table: Stream | Relation, column: Column, fresh: list[int]) -> Any:
    """A value for a column that the query does not mention."""
    if column.enum is not None:
        return column.enum[0]
    if column.minimum is not None or column.maximum is not None:
        return column.minimum if column.minimum is not None else column.maximum
    if not any(column.name in r.columns for r in table.references):
        fresh[0] += 1
    match type(column.type).__name__:
        case "StringType":
            return f"x{fresh[0]}"
        case "BooleanType":
            return True
        case "DateType":
            return "2000-01-01"
        case _:
            return fresh[0]


def _decode(
    number: int | Fraction,
    unit: int,
    kind: Kind,
    column: Column,
    allowed: tuple[Any, ...] | None,
) -> Any:
    match kind:
        case Kind.NUMBER | Kind.FLOAT:
            exact = Fraction(number) / unit
            if isinstance(column.type, FloatType):
                return float(exact)
            if isinstance(column.type, DecimalType):
                return Decimal(exact.numerator) / Decimal(exact.denominator)
            return int(exact) if exact.denominator == 1 else exact
        case Kind.STRING:
            return allowed[0] if allowed else f"s{number}"
        case Kind.BOOLEAN:
            return bool(number)
        case Kind.DATE:
            return (date(1970, 1, 1) + timedelta(days=int(number))).isoformat()
        case Kind.TIMESTAMP:
            return int(number)


def _instance(catalog: Catalog, rows: Iterable[WitnessRow]) -> Instance:
    tables: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        content = dict(row.values)
        table = catalog.table(row.table)
        if isinstance(table, Stream):
            content[table.timestamp] = row.step
        tables.setdefault(row.table, []).append(content)
    return tables


def _is_legal(catalog: Catalog, rows: Sequence[WitnessRow]) -> bool:
    """Whether rows satisfy everything declared: keys, references, domains, R per timestamp."""
    for name in {r.table for r in rows}:
        table, mine = catalog.table(name), [r for r in rows if r.table == name]
        if isinstance(table, Stream):
            limit = table.max_per_timestamp
            counts = Counter(r.step for r in mine)
            if limit is not None and max(counts.values()) > limit:
                return False
        for key in table.keys:
            seen = Counter(
                tuple(
                    r.step
                    if isinstance(table, Stream) and c == table.timestamp
                    else dict(r.values)[c]
                    for c in key
                )
                for r in mine
            )
            if max(seen.values()) > 1:
                return False
        for reference in table.references:
            targets = {
                tuple(dict(r.values)[c] for c in reference.to)
                for r in rows
                if r.table == reference.relation
            }
            if any(
                tuple(dict(r.values)[c] for c in reference.columns) not in targets for r in mine
            ):
                return False
        for column in table.columns:
            for r in mine:
                if not _in_domain(dict(r.values)[column.name], column):
                    return False
    return True


def _in_domain(content: Any, column: Column) -> bool:
    if isinstance(content, Fraction):
        return False
    if column.enum is not None and content not in column.enum:
        return False
    if column.minimum is not None and content < column.minimum:
        return False
    return column.maximum is None or not content > column.maximum


def _confirms(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """Whether the relational answers prove that all subsets of optional tuples differ."""
    prefix = [*witness.fixed, *witness.optional]
    if not all(_is_legal(catalog, [*prefix, *s]) for s in witness.suffixes):
        return False
    if any(
        r.step is not None and q.step is not None and q.step <= r.step
        for s in witness.suffixes
        for q in s
        for r in prefix
    ):
        return False
    if union.distinct:
        return _confirms_set(union, catalog, witness)
    return _confirms_bag(union, catalog, witness)


def _confirms_set(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    for i, suffix in enumerate(witness.suffixes):
        rest = [o for k, o in enumerate(witness.optional) if k != i]
        with_it = evaluate_naively(
            union, _instance(catalog, [*witness.fixed, witness.optional[i], *suffix])
        )
        without = evaluate_naively(union, _instance(catalog, [*witness.fixed, *rest, *suffix]))
        if not set(with_it) - set(without):
            return False
    return True


def _confirms_bag(union: SpjUnion, catalog: Catalog, witness: Witness) -> bool:
    """The new results of suffix i, as a matrix over the optional tuples, have full rank, and
    they add up: no match uses two optional tuples."""
    size = len(witness.optional)
    rows: list[list[Fraction]] = []

    def new(optional: Sequence[WitnessRow], suffix: Sequence[WitnessRow]) -> Counter[Any]:
        before = [*witness.fixed, *optional]
        after = evaluate_naively(union, _instance(catalog, [*before, *suffix]))
        after.subtract(evaluate_naively(union, _instance(catalog, before)))
        return after

    for suffix in witness.suffixes:
        none = new((), suffix)
        single = [new((o,), suffix) for o in witness.optional]
        everything = new(witness.optional, suffix)
        for answer in set(everything) | set(none) | {a for s in single for a in s}:
            row = [Fraction(s[answer] - none[answer]) for s in single]
            if everything[answer] - none[answer] != sum(row):
                return False
            rows.append(row)
    return _rank(rows, size) == size


def _rank(rows: list[list[Fraction]], width: int) -> int:
    rank = 0
    rows = [list(r) for r in rows]
    for column in range(width):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            if rows[i][column]:
                factor = rows[i][column] / rows[rank][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank
