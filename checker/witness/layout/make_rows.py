"""The concrete rows of laid out copies."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, assert_never

from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.checker.model.solve_differences import Var
from ontoweir.checker.witness.layout.choose_told import choose_told
from ontoweir.checker.witness.layout.derive_rows import (
    compute_derived,
    derive_values,
    find_scale,
)
from ontoweir.checker.witness.layout.plan_layouts import Layout, is_single
from ontoweir.checker.witness.layout.unused_columns import UnusedColumns
from ontoweir.checker.witness.layout.watch_clock import stretch_steps
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.mappings.model.catalog import Catalog, Column, DecimalType, FloatType, Stream
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, IsNull, Op


def make_rows(
    form: NormalForm,
    catalog: Catalog,
    layout: Layout,
    size: int,
    solution: Mapping[Var, int | Fraction],
    val: Any,
    spare: UnusedColumns,
) -> Witness:
    """The witness that a solution of the layout's constraints stands for (theory §9). Raises
    NoRowError: it is not known what makes the values of a derived column."""
    numbers, told = dict[tuple[int, Any], int](), dict[str, dict[str, Any]]()
    absent = {c.attribute for c in form.query.conditions if isinstance(c, IsNull)}
    scales = {c.index: find_scale(form, c, catalog) for c in form.classes}
    derives, stretch = _list_deriving(form, catalog), stretch_steps(form, catalog)
    texts = {c.index: _choose_text(form, c, catalog) for c in form.classes if c.kind is Kind.STRING}
    statics: dict[tuple[str, tuple[tuple[str, Any], ...]], WitnessRow] = {}

    def values(
        alias: str, table: str, copy: int, step: int | None = None, *, whole: bool = True
    ) -> tuple[tuple[str, Any], ...]:
        declared = catalog.table(table)
        known = {a.column for a in form.class_of if a.alias == alias}
        unknown = [c.name for c in declared.columns if c.name not in known and not c.expression]
        others = spare.fill(table, unknown) if whole else {}
        distinct = []
        for column in declared.columns:
            index = form.class_of.get(Attribute(alias, column.name))
            if index is None:
                if (name := column.name) in others:
                    missing = Attribute(alias, name) in absent
                    distinct.append((name, None if missing else others[name]))
                continue
            group = form.classes[index]
            number = solution.get(val(index, copy), 0)
            shift = dict(group.attributes)[Attribute(alias, column.name)]
            units = number + shift if (scale := scales[index]) is None else scale(number)
            made: Any = decode_value(units, form.unit_of(group.kind), group.kind, column)
            if index in texts:
                made = _write_text(*texts[index], number + shift)
            distinct.append((column.name, made))
        if whole and table in derives:
            if alias not in told:
                told[alias] = choose_told(declared, known, dict(distinct))
            content = dict(distinct) | told[alias]
            if not isinstance(declared, Stream) or step is None:
                return derive_values(declared, alias, content, form, numbers)
            content[declared.timestamp] = _write_time(step * declared.step_us)
            derived = derive_values(declared, alias, content, form, numbers)
            return tuple(item for item in derived if item[0] != declared.timestamp)
        return tuple(distinct)

    fixed, optional = list[WitnessRow](), list[WitnessRow]()
    suffixes, half = list[tuple[WitnessRow, ...]](), size // 2 if layout.again else size
    for copy in range(size):
        suffix = []
        for m in form.members:
            single = is_single(form, layout, m.index)
            step = int(solution["t", m.index, 0 if single else copy]) * stretch
            content = values(m.alias, m.stream, copy, step)
            row = WitnessRow(m.stream, step, _with_times(content, catalog.streams[m.stream], step))
            if single and copy:
                continue
            if copy >= half:
                suffix.append(row)
            elif m.index == layout.optional:
                optional.append(row)
            elif m.index in layout.before or single:
                fixed.append(row)
            else:
                suffix.append(row)
            for o in m.statics:
                key = o.table, tuple(sorted(values(o.alias, o.table, copy, whole=False), key=str))
                if key not in statics:
                    statics[key] = WitnessRow(o.table, None, values(o.alias, o.table, copy))
        if suffix or not layout.again:
            suffixes.append(tuple(suffix))
    streamed, held = [*fixed, *optional, *(r for s in suffixes for r in s)], list(statics.values())
    held += refer_statics(catalog, streamed, held, spare.fill)
    return Witness(half, (*held, *fixed), tuple(optional), tuple(suffixes))


def _with_times(
    content: tuple[tuple[str, Any], ...], stream: Stream, step: int
) -> tuple[tuple[str, Any], ...]:
    """A row's values with its buckets of time, as its timestamp says."""
    buckets = {
        c.name: _write_time(c.bucket.of(step * stream.step_us))
        for c in stream.columns
        if c.bucket is not None
    }
    return tuple((dict(content) | buckets).items()) if buckets else content


def _write_text(start: str, alone: bool, number: int | Fraction) -> str:
    return start if alone else f"{start}{number}"


def _list_deriving(form: NormalForm, catalog: Catalog) -> set[str]:
    """The tables that have derived columns."""
    tables = {o.table for o in form.query.occurrences}
    return {
        name
        for name in tables
        if any(column.expression is not None for column in catalog.table(name).columns)
    }


def _is_derived(form: NormalForm, group: ValueClass, catalog: Catalog) -> bool:
    """Whether a value of a class is computed, of a text that it may be itself."""
    tables = {o.alias: catalog.table(o.table) for o in form.query.occurrences}
    columns = (tables[a.alias].column(a.column) for a, _ in group.attributes)
    return any(c is not None and c.expression is not None for c in columns)


def _choose_text(form: NormalForm, group: ValueClass, catalog: Catalog) -> tuple[str, bool]:
    """A string of an enumerated class, or what the strings of another one begin with, so that the
    selection holds; and whether it is the whole string."""
    first = "7" if _is_derived(form, group, catalog) else "s"
    limits = [
        (c.op, c.right.value)
        for c in form.query.conditions
        if isinstance(c, Compare)
        and isinstance(c.right, Constant)
        and isinstance(c.right.value, str)
        and form.class_of.get(c.left) == group.index
    ]
    if group.domain.values:
        allowed = [str(v) for v in group.domain.values]
        return next(
            (t for t in allowed if all(_holds(t, op, limit) for op, limit in limits)), allowed[0]
        ), True
    texts = [text for _, text in limits]
    before = [t[:-1] + chr(ord(t[-1]) - 1) for t in texts if t and t[-1] > "\0"]
    for prefix in (first, *texts, *before):
        if all(_holds(f"{prefix}{end}", op, text) for op, text in limits for end in "-09"):
            return prefix, False
    return first, False


def _holds(text: str, op: Op, limit: str) -> bool:
    match op:
        case Op.LT:
            return text < limit
        case Op.LE:
            return text <= limit
        case Op.GT:
            return text > limit
        case Op.GE:
            return text >= limit
        case Op.NE:
            return text != limit
        case Op.EQ:
            return text == limit
        case _:
            assert_never(op)


def refer_statics(
    catalog: Catalog,
    rows: Sequence[WitnessRow],
    statics: Sequence[WitnessRow],
    fill: Callable[[str, Sequence[str]], Mapping[str, Any]],
) -> list[WitnessRow]:
    """Rows of static relations that declared references demand, of streams and of such rows.

    Args:
        catalog: the tables.
        rows: of streams.
        statics: those that are there already.
        fill: values of columns of a relation that nothing is demanded of.
    """
    made: dict[tuple[str, tuple[Any, ...]], WitnessRow] = {}
    there = [(r.table, dict(r.values)) for r in statics]
    todo = [*rows, *statics]
    while todo:
        row = todo.pop(0)
        have = dict(row.values)
        for ref in catalog.table(row.table).references:
            wanted = tuple(have.get(c) for c in ref.columns)
            if None in wanted or (ref.relation, wanted) in made:
                continue
            if any(
                t == ref.relation and tuple(v.get(c) for c in ref.to) == wanted for t, v in there
            ):
                continue
            target = dict(zip(ref.to, wanted, strict=True))
            relation = catalog.relations[ref.relation]
            unknown = [
                c.name for c in relation.columns if c.name not in target and c.expression is None
            ]
            others = fill(ref.relation, unknown)
            plain = [c.name for c in relation.columns if c.expression is None]
            content = {name: target.get(name, others.get(name)) for name in plain}
            found = WitnessRow(
                ref.relation, None, tuple(compute_derived(relation, content).items())
            )
            made[(ref.relation, wanted)] = found
            todo.append(found)
    return list(made.values())


def decode_value(
    number: int | Fraction,
    unit: int,
    kind: Kind,
    column: Column,
) -> Any:
    """The value of a column that a number of units stands for."""
    match kind:
        case Kind.NUMBER | Kind.FLOAT:
            exact = Fraction(number) / unit
            if isinstance(column.type, FloatType):
                return float(exact)
            if isinstance(column.type, DecimalType):
                return Decimal(exact.numerator) / Decimal(exact.denominator)
            return int(exact) if exact.denominator == 1 else exact
        case Kind.STRING:
            return f"s{number}"
        case Kind.BOOLEAN:
            return bool(number)
        case Kind.DATE:
            return (date(1970, 1, 1) + timedelta(days=int(number))).isoformat()
        case Kind.TIMESTAMP:
            return _write_time(int(number))


def _write_time(micros: int) -> str:
    """A point in time as constants are written: such texts compare as the times do."""
    moment = datetime(1970, 1, 1) + timedelta(microseconds=micros)
    return moment.isoformat(" ", timespec="microseconds")
