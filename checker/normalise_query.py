"""Bring a disjunct into normal form: members, value classes, limits, lags ([S] Def. 4, 5)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from ontoweir.checker.difference_bounds import DifferenceBounds, Limit
from ontoweir.checker.normal_form import (
    Disequality,
    Domain,
    Inequality,
    Kind,
    Member,
    NormalForm,
    Statistics,
    TimeDifference,
    TimeLimit,
    ValueClass,
)
from ontoweir.errors import QueryError, Source
from ontoweir.mappings.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Scalar,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.spj import (
    Attribute,
    Compare,
    Constant,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
    output_attributes,
)

_ZERO, _LOW, _HIGH, _FIRST_NODE = 0, 1, 2, 3
_MOST_PLACES = 6
"""Constants with more decimal places do not refine the unit of numbers."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared constraint that a verdict may rest on: a column's domain, or a reference."""

    kind: str
    table: str
    columns: tuple[str, ...]
    text: str
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """An explicit limit `left - right <= limit` between nodes, and the condition it came from."""

    left: int
    right: int
    limit: Limit
    source: Source | None


def list_declarations(query: SpjQuery, catalog: Catalog) -> tuple[Declaration, ...]:
    """The declared constraints on the streams' columns that a disjunct mentions."""
    used = set(_attributes(query))
    found: dict[Declaration, None] = {}
    for occurrence in query.occurrences:
        stream = catalog.streams.get(occurrence.table)
        if stream is None:
            continue
        for column in stream.columns:
            if Attribute(occurrence.alias, column.name) not in used:
                continue
            if column.enum is not None or not (column.minimum is None and column.maximum is None):
                found[_domain_declaration(stream, column)] = None
            for reference in stream.references:
                if reference.columns == (column.name,):
                    text = (
                        f"{stream.name}.{column.name} references "
                        f"{reference.relation}.{reference.to[0]}"
                    )
                    found[
                        Declaration("reference", stream.name, (column.name,), text, stream.source)
                    ] = None
    return tuple(found)


def _domain_declaration(stream: Stream, column: Column) -> Declaration:
    if column.enum is not None:
        text = f"{stream.name}.{column.name} in {{{', '.join(map(str, column.enum))}}}"
    else:
        low = "-∞" if column.minimum is None else column.minimum
        high = "∞" if column.maximum is None else column.maximum
        text = f"{stream.name}.{column.name} in {low}..{high}"
    return Declaration("domain", stream.name, (column.name,), text, column.source)


def _attributes(query: SpjQuery) -> list[Attribute]:
    """Every attribute a disjunct mentions, once, in order."""
    found: dict[Attribute, None] = {}
    for condition in query.conditions:
        match condition:
            case Compare(left=left, right=right):
                found[left] = None
                if isinstance(right, Attribute):
                    found[right] = None
            case NotNull(attribute=attribute):
                found[attribute] = None
            case _:
                assert_never(condition)
    for _, output in query.outputs:
        for attribute in output_attributes(output):
            found[attribute] = None
    return list(found)


def _kind(kind: ColumnType) -> Kind:
    match kind:
        case IntType() | DecimalType():
            return Kind.NUMBER
        case FloatType():
            return Kind.FLOAT
        case StringType():
            return Kind.STRING
        case BooleanType():
            return Kind.BOOLEAN
        case DateType():
            return Kind.DATE
        case TimestampType():
            return Kind.TIMESTAMP
        case _:
            assert_never(kind)


@dataclass(frozen=True, slots=True)
class Units:
    """How values become whole numbers: numbers in 1/unit, strings by code."""

    unit: int
    strings: Mapping[str, int]

    def grain(self, kind: ColumnType) -> int:
        """Values of a column of this type are multiples of this many units (0: dense)."""
        match kind:
            case IntType():
                return self.unit
            case DecimalType(scale=scale):
                return int(self.unit // 10**scale)
            case FloatType():
                return 0
            case StringType() | BooleanType() | DateType() | TimestampType():
                return 1
            case _:
                assert_never(kind)

    def value(self, value: Scalar, kind: Kind) -> int | Fraction:
        """A constant in units.

        Raises:
            ValueError: the constant is not of this kind.
        """
        match kind:
            case Kind.NUMBER | Kind.FLOAT:
                if isinstance(value, bool | str):
                    raise ValueError(f"{value!r} is not a number")
                exact = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
                scaled = exact * self.unit
                return int(scaled) if scaled.denominator == 1 else scaled
            case Kind.STRING:
                if not isinstance(value, str):
                    raise ValueError(f"{value!r} is not a string")
                return self.strings[value]
            case Kind.BOOLEAN:
                if not isinstance(value, bool):
                    raise ValueError(f"{value!r} is not a truth value")
                return int(value)
            case Kind.DATE:
                if not isinstance(value, str):
                    raise ValueError(f"{value!r} is not a date")
                return date.fromisoformat(value).toordinal() - date(1970, 1, 1).toordinal()
            case Kind.TIMESTAMP:
                if isinstance(value, int) and not isinstance(value, bool):
                    return value
                if not isinstance(value, str):
                    raise ValueError(f"{value!r} is not a point in time")
                moment = datetime.fromisoformat(value)
                moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
                delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
                return (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds
            case _:
                assert_never(kind)


def choose_units(query: SpjQuery, catalog: Catalog) -> Units:
    """The unit of numbers (the finest decimal column) and codes for the string constants."""
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    scale = 0
    strings: set[str] = set()
    for attribute in _attributes(query):
        column = tables[attribute.alias].column(attribute.column)
        if column is not None and isinstance(column.type, DecimalType):
            scale = max(scale, column.type.scale)
        if column is not None:
            strings.update(v for v in column.enum or () if isinstance(v, str))
    for condition in query.conditions:
        if isinstance(condition, Compare) and isinstance(condition.right, Constant):
            value = condition.right.value
            if isinstance(value, str):
                strings.add(value)
            elif scale and isinstance(value, Decimal | float):
                # where decimals set a unit, a float must be able to equal this constant in it
                places = Decimal(str(value)).normalize().as_tuple().exponent
                scale = max(scale, min(-int(places), _MOST_PLACES))
    return Units(10**scale, {text: code for code, text in enumerate(sorted(strings))})


class _Normaliser:
    """The state of one normalisation."""

    def __init__(
        self,
        query: SpjQuery,
        distinct: bool,
        catalog: Catalog,
        statistics: Statistics,
        use: Callable[[Declaration], bool],
        timed: bool,
    ) -> None:
        self.query, self.distinct, self.catalog = query, distinct, catalog
        self.statistics, self.use, self.timed = statistics, use, timed
        self.tables: dict[str, Stream | Relation] = {
            o.alias: catalog.table(o.table) for o in query.occurrences
        }
        self.units = choose_units(query, catalog)
        self.values: dict[Attribute, int] = {}
        self.columns: dict[Attribute, Column] = {}
        grains = [1, 0, 0]
        for attribute in _attributes(query):
            if self.is_time(attribute):
                continue
            column = self.tables[attribute.alias].column(attribute.column)
            if column is None:
                raise QueryError(
                    f"unknown column {attribute}",
                    why=f"{self.tables[attribute.alias].name} does not declare it",
                    fix="declare the column in the catalog, or correct its name",
                )
            self.values[attribute] = len(grains)
            self.columns[attribute] = column
            grains.append(self.units.grain(column.type))
        self.grains = grains
        self.streams = [o for o in query.occurrences if o.table in catalog.streams]

    def is_time(self, attribute: Attribute) -> bool:
        table = self.tables[attribute.alias]
        return isinstance(table, Stream) and attribute.column == table.timestamp

    def check_types(self) -> None:
        """Raise QueryError where two sides of a comparison cannot be compared."""
        for condition in self.query.conditions:
            if not isinstance(condition, Compare):
                continue
            left, right = condition.left, condition.right
            if isinstance(right, Attribute) and self.is_time(left) != self.is_time(right):
                self._clash(condition, "a timestamp is compared with a value that is not one")
            if self.is_time(left):
                if isinstance(right, Constant) and (
                    isinstance(right.value, bool) or not isinstance(right.value, int)
                ):
                    self._clash(condition, "a timestamp is compared with a value that is not one")
                continue
            kind = _kind(self.columns[left].type)
            if isinstance(right, Attribute):
                other = _kind(self.columns[right].type)
                numeric = {Kind.NUMBER, Kind.FLOAT}
                if kind != other and not {kind, other} <= numeric:
                    self._clash(condition, f"a {kind} is compared with a {other}")
            else:
                try:
                    self.units.value(right.value, kind)
                except ValueError as error:
                    self._clash(condition, f"{left} is a {kind} but {error}")
            ordered = condition.op not in (Op.EQ, Op.NE)
            if kind is Kind.STRING and ordered and isinstance(right, Attribute):
                self._clash(condition, "strings of two attributes are compared by order")

    def _clash(self, condition: Compare, what: str) -> None:
        raise QueryError(
            f"{what}: {condition.left} {condition.op} {_show(condition.right)}",
            why="both sides of a comparison need one type; times compare only with times",
            fix="compare values of one type, or declare the column with the type it has",
            source=condition.source,
        )

    def fold_statics(self) -> dict[str, int]:
        """The member of every alias: a static joins the member whose attributes equal one of its
        declared keys (one row per tuple), else the first member an equality ties it to."""
        owner = {o.alias: index for index, o in enumerate(self.streams)}
        waiting = [o.alias for o in self.query.occurrences if o.alias not in owner]
        ties = [
            (a, b)
            for c in self.query.conditions
            if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Attribute)
            for a, b in ((c.left, c.right), (c.right, c.left))
        ]
        while waiting:
            alias, member = min(
                (self._closeness(alias, member, owner, ties), place, member, alias)
                for place, alias in enumerate(waiting)
                for member in range(max(len(self.streams), 1))
            )[3:1:-1]
            owner[str(alias)] = int(member)
            waiting.remove(str(alias))
        return owner

    def _closeness(
        self,
        alias: str,
        member: int,
        owner: Mapping[str, int],
        ties: list[tuple[Attribute, Attribute]],
    ) -> int:
        """0: a whole key of a static is equated with a member's attributes; 1: something of it
        is; 2: nothing."""
        tied = {a.column for a, b in ties if a.alias == alias and owner.get(b.alias) == member}
        if any(tied.issuperset(key) for key in self.tables[alias].keys):
            return 0
        return 1 if tied else 2

    def limits(self) -> list[_Step]:
        """The explicit limits on values, in nodes."""
        steps: list[_Step] = []
        for condition in self.query.conditions:
            if not isinstance(condition, Compare) or self.is_time(condition.left):
                continue
            left = self.values[condition.left]
            kind = _kind(self.columns[condition.left].type)
            shift: int | Fraction
            if isinstance(condition.right, Attribute):
                right = self.values[condition.right]
                exact = Fraction(condition.offset) * self.units.unit
                shift = int(exact) if exact.denominator == 1 else exact
            else:
                right = _ZERO
                if kind is Kind.STRING and condition.op not in (Op.EQ, Op.NE):
                    continue
                shift = self.units.value(condition.right.value, kind)
            steps.extend(_steps(left, right, condition.op, shift, condition.source))
        return steps

    def domains(self) -> list[_Step]:
        """The limits that declared domains and static data set."""
        steps: list[_Step] = []
        for attribute, node in self.values.items():
            column, table = self.columns[attribute], self.tables[attribute.alias]
            kind = _kind(column.type)
            if isinstance(table, Relation):
                steps.extend(self._static_limits(table, column, node))
            else:
                for relation, target in self.references(table, column):
                    steps.extend(self._static_limits(relation, target, node))
                if not self.use(_domain_declaration(table, column)):
                    continue
            if kind is Kind.STRING:
                continue
            lows = [column.minimum, _least(column.enum)]
            highs = [column.maximum, _greatest(column.enum)]
            for value in lows:
                if value is not None:
                    limit = Limit(-self.units.value(value, kind))
                    steps.append(_Step(_ZERO, node, limit, column.source))
            for value in highs:
                if value is not None:
                    steps.append(
                        _Step(node, _ZERO, Limit(self.units.value(value, kind)), column.source)
                    )
            if kind is Kind.BOOLEAN:
                steps.append(_Step(_ZERO, node, Limit(0), None))
                steps.append(_Step(node, _ZERO, Limit(1), None))
        return steps

    def references(self, stream: Stream, column: Column) -> Iterable[tuple[Relation, Column]]:
        """The static columns that a usable reference says a column's values occur in."""
        for reference in stream.references:
            if reference.columns != (column.name,):
                continue
            text = f"{stream.name}.{column.name} references {reference.relation}.{reference.to[0]}"
            if self.use(Declaration("reference", stream.name, (column.name,), text, stream.source)):
                relation = self.catalog.relations[reference.relation]
                target = relation.column(reference.to[0])
                if target is not None:
                    yield relation, target

    def _static_limits(self, relation: Relation, column: Column, node: int) -> Iterable[_Step]:
        """A value of a static column is between its least and greatest, known or not."""
        yield _Step(_LOW, node, Limit(0), None)
        yield _Step(node, _HIGH, Limit(0), None)
        known, kind = self.statistics.columns.get((relation.name, column.name)), _kind(column.type)
        if known is None or kind is Kind.STRING:
            return
        if known.minimum is not None:
            yield _Step(_ZERO, node, Limit(-self.units.value(known.minimum, kind)), None)
        if known.maximum is not None:
            yield _Step(node, _ZERO, Limit(self.units.value(known.maximum, kind)), None)

    def time_steps(self, owner: Mapping[str, int]) -> tuple[list[_Step], list[TimeDifference]]:
        """The explicit limits on timestamps (node 0, then one node a member), and `≠` atoms."""
        steps: list[_Step] = []
        different: list[TimeDifference] = []
        for condition in self.query.conditions:
            if not isinstance(condition, Compare) or not self.is_time(condition.left):
                continue
            left = owner[condition.left.alias] + 1
            if isinstance(condition.right, Attribute):
                right = owner[condition.right.alias] + 1
                shift = int(condition.offset)
            else:
                right, shift = 0, int(condition.right.value)
            if condition.op is Op.NE:
                if right:
                    different.append(TimeDifference(left - 1, right - 1, shift, condition.source))
                continue
            steps.extend(_steps(left, right, condition.op, shift, condition.source))
        return steps, different


def _show(side: Attribute | Constant) -> str:
    return str(side) if isinstance(side, Attribute) else repr(side.value)


def _steps(
    left: int, right: int, op: Op, shift: int | Fraction, source: Source | None
) -> Iterable[_Step]:
    """`left op right + shift` as limits on differences (none for `≠`)."""
    match op:
        case Op.LT | Op.LE:
            return [_Step(left, right, Limit(shift, op is Op.LT), source)]
        case Op.GT | Op.GE:
            return [_Step(right, left, Limit(-shift, op is Op.GT), source)]
        case Op.EQ:
            return [
                _Step(left, right, Limit(shift), source),
                _Step(right, left, Limit(-shift), source),
            ]
        case Op.NE:
            return []
        case _:
            assert_never(op)


def _irredundant(base: DifferenceBounds, steps: list[_Step]) -> list[_Step]:
    """Those steps that the base and the other kept steps do not imply."""
    kept = list(dict.fromkeys(steps))
    for step in list(kept):
        rest = base.copy()
        for other in kept:
            if other is not step:
                rest.add(other.left, other.right, other.limit)
        if rest.satisfiable and rest.implies(
            step.left, step.right, rest.tighten(step.left, step.right, step.limit)
        ):
            kept.remove(step)
    return kept


def normalise_query(
    query: SpjQuery,
    *,
    distinct: bool,
    catalog: Catalog,
    statistics: Statistics | None = None,
    use: Callable[[Declaration], bool] = lambda _: True,
    timed: bool = True,
) -> NormalForm:
    """Bring one disjunct into normal form.

    Args:
        query: the disjunct.
        distinct: set semantics.
        catalog: types, declared domains, keys, references.
        statistics: what is known of the static data.
        use: which declared constraints may be used.
        timed: False drops all timestamps: arrival order ([A]).

    Raises:
        QueryError: a comparison mixes types, or a column is unknown.
    """
    work = _Normaliser(query, distinct, catalog, statistics or Statistics(), use, timed)
    work.check_types()
    return _assemble(work)


def _assemble(work: _Normaliser) -> NormalForm:
    owner = work.fold_statics()
    explicit, declared = work.limits(), work.domains()
    bounds = DifferenceBounds(work.grains)
    bounds.add(_LOW, _HIGH, Limit(0))
    for step in (*declared, *explicit):
        bounds.add(step.left, step.right, step.limit)
    time_steps, different = work.time_steps(owner)
    if not work.timed:
        time_steps, different = [], []
    times = DifferenceBounds([1] * (len(work.streams) + 1))
    for step in time_steps:
        times.add(step.left, step.right, step.limit)
    satisfiable = bounds.satisfiable and times.satisfiable and not _contradicts_ne(work, bounds)
    satisfiable = satisfiable and not any(
        times.implies(d.left + 1, d.right + 1, Limit(d.steps))
        and times.implies(d.right + 1, d.left + 1, Limit(-d.steps))
        for d in different
    )
    members = _members(work, owner, times)
    lag = _lags(times, len(members))
    classes, class_of = _classes(work, owner, bounds, members)
    inequalities = _inequalities(work, owner, explicit, declared, bounds, class_of, classes)
    disequalities = _disequalities(work, owner, bounds, class_of, classes)
    base = DifferenceBounds(times.grains)
    for step in time_steps:
        if 0 in (step.left, step.right):
            base.add(step.left, step.right, step.limit)
    between = [s for s in time_steps if s.left and s.right and s.left != s.right]
    limits = (
        tuple(
            TimeLimit(
                s.left - 1,
                s.right - 1,
                int(times.tighten(s.left, s.right, s.limit).value),
                s.source,
            )
            for s in _irredundant(base, between)
        )
        if satisfiable
        else ()
    )
    return NormalForm(
        query=work.query,
        distinct=work.distinct,
        satisfiable=satisfiable,
        unit=work.units.unit,
        members=members,
        classes=classes,
        class_of=class_of,
        kinds={a: _kind(c.type) for a, c in work.columns.items()},
        inequalities=inequalities,
        disequalities=disequalities,
        times=limits,
        time_differences=tuple(d for d in different if d.left != d.right),
        lag=lag,
        bounds=bounds,
        class_nodes=tuple(work.values[c.attributes[0][0]] for c in classes),
        max_per_timestamp={
            o.table: work.catalog.streams[o.table].max_per_timestamp for o in work.streams
        },
        static_fanout=_fanout(work, owner, class_of, classes),
    )


def _contradicts_ne(work: _Normaliser, bounds: DifferenceBounds) -> bool:
    """Whether some `≠` contradicts an implied equality, or an enumeration excludes a constant."""
    for condition in work.query.conditions:
        if not isinstance(condition, Compare) or work.is_time(condition.left):
            continue
        left = work.values[condition.left]
        column = work.columns[condition.left]
        kind = _kind(column.type)
        if isinstance(condition.right, Attribute):
            right, shift = (
                work.values[condition.right],
                Fraction(condition.offset) * work.units.unit,
            )
        else:
            right, shift = _ZERO, Fraction(work.units.value(condition.right.value, kind))
            if (
                condition.op is Op.EQ
                and column.enum is not None
                and condition.right.value not in column.enum
            ):
                return True
        if (
            condition.op is Op.NE
            and bounds.implies(left, right, Limit(shift))
            and bounds.implies(right, left, Limit(-shift))
        ):
            return True
    return False


def _members(
    work: _Normaliser, owner: Mapping[str, int], times: DifferenceBounds
) -> tuple[Member, ...]:
    members = []
    for index, occurrence in enumerate(work.streams):
        local: list[Compare | NotNull] = []
        for condition in work.query.conditions:
            match condition:
                case NotNull(attribute=attribute):
                    if owner[attribute.alias] == index:
                        local.append(condition)
                case Compare(left=left, right=right):
                    inside = owner[left.alias] == index and (
                        isinstance(right, Constant) or owner[right.alias] == index
                    )
                    if inside and (work.timed or not work.is_time(left)):
                        local.append(condition)
                case _:
                    assert_never(condition)
        last, first = times.limit(index + 1, 0), times.limit(0, index + 1)
        members.append(
            Member(
                index=index,
                alias=occurrence.alias,
                stream=occurrence.table,
                statics=tuple(
                    o
                    for o in work.query.occurrences
                    if owner[o.alias] == index and o.alias != occurrence.alias
                ),
                local=tuple(local),
                first=None if first is None else -int(first.value),
                last=None if last is None else int(last.value),
            )
        )
    return tuple(members)


def _fanout(
    work: _Normaliser,
    owner: Mapping[str, int],
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> dict[str, int | None]:
    """One, for a static occurrence joined by a whole key to what is there; else its size."""
    statics = [o for o in work.query.occurrences if o.table in work.catalog.relations]
    there = {o.alias for o in work.streams}
    found: dict[str, int | None] = {}

    def is_keyed(occurrence: Occurrence) -> bool:
        relation = work.catalog.relations[occurrence.table]
        for key in relation.keys:
            attributes = [Attribute(occurrence.alias, column) for column in key]
            if all(
                a in class_of
                and any(
                    other.alias in there and owner[other.alias] == owner[a.alias]
                    for other, _ in classes[class_of[a]].attributes
                )
                for a in attributes
            ):
                return True
        return False

    waiting = list(statics)
    while waiting:
        occurrence = next((o for o in waiting if is_keyed(o)), None)
        if occurrence is not None:
            found[occurrence.alias] = 1
        else:
            occurrence = waiting[0]
            relation = work.catalog.relations[occurrence.table]
            found[occurrence.alias] = work.statistics.rows.get(relation.name, relation.max_rows)
        there.add(occurrence.alias)
        waiting.remove(occurrence)
    return found


def _lags(times: DifferenceBounds, count: int) -> tuple[tuple[int | None, ...], ...]:
    """lag(i→j) = sup(t_j - t_i); limits through constants count too."""
    rows = []
    for i in range(count):
        row: list[int | None] = []
        for j in range(count):
            limit = times.limit(j + 1, i + 1)
            row.append(None if limit is None else int(limit.value))
        rows.append(tuple(row))
    return tuple(rows)


def _equal_shift(bounds: DifferenceBounds, a: int, b: int) -> int | Fraction | None:
    """c with a = b + c, if that is implied."""
    up, down = bounds.limit(a, b), bounds.limit(b, a)
    if up is None or down is None or up.strict or down.strict or up.value != -down.value:
        return None
    return up.value


def _classes(
    work: _Normaliser,
    owner: Mapping[str, int],
    bounds: DifferenceBounds,
    members: tuple[Member, ...],
) -> tuple[tuple[ValueClass, ...], dict[Attribute, int]]:
    projected = {a for _, o in work.query.outputs for a in output_attributes(o)}
    kinds = {a: _kind(column.type) for a, column in work.columns.items()}
    groups: list[list[tuple[Attribute, int | Fraction]]] = []
    for attribute, node in work.values.items():
        for group in groups:
            head = group[0][0]
            if _family(kinds[attribute]) is not _family(kinds[head]):
                continue
            shift = _equal_shift(bounds, node, work.values[head])
            if shift is not None and (shift == 0 or kinds[attribute] is not Kind.STRING):
                group.append((attribute, shift))
                break
        else:
            groups.append([(attribute, 0)])
    classes: list[ValueClass] = []
    class_of: dict[Attribute, int] = {}
    for index, group in enumerate(groups):
        inside = {kinds[a] for a, _ in group}
        kind = Kind.FLOAT if Kind.FLOAT in inside else next(iter(inside))
        for attribute, _ in group:
            class_of[attribute] = index
        classes.append(
            ValueClass(
                index=index,
                kind=kind,
                grain=max(work.grains[work.values[a]] for a, _ in group),
                attributes=tuple(group),
                members=frozenset(owner[a.alias] for a, _ in group),
                domain=_domain(work, owner, bounds, members, group),
                projected=any(a in projected for a, _ in group),
            )
        )
    return tuple(classes), class_of


def _family(kind: Kind) -> Kind:
    """What values of a kind can be equal to: floats are numbers."""
    return Kind.NUMBER if kind is Kind.FLOAT else kind


def _domain(
    work: _Normaliser,
    owner: Mapping[str, int],
    bounds: DifferenceBounds,
    members: tuple[Member, ...],
    group: list[tuple[Attribute, int | Fraction]],
) -> Domain:
    """The values a class can take; the smallest known of what the schema, data and P⁺ say.

    Only attributes equal to the class's value without a shift lend it their enumerations and
    references; ranges count for all.
    """
    everyone = [a for a, _ in group]
    attributes = [a for a, shift in group if shift == 0]
    head = work.values[attributes[0]]
    grain = max(work.grains[work.values[a]] for a in everyone)
    discrete = all(work.grains[work.values[a]] > 0 for a in everyone)
    up, down = bounds.limit(head, _ZERO), bounds.limit(_ZERO, head)
    low = None if down is None else -down.value
    high = None if up is None else up.value
    found: list[tuple[int | None, str]] = []
    values: set[Scalar] | None = None
    within: dict[tuple[str, str], None] = {}
    if low is not None and high is not None and low == high:
        found.append((1, "1"))
    if discrete and _kind(work.columns[attributes[0]].type) is not Kind.STRING:
        if low is not None and high is not None:
            size = max(int((high - low) // grain) + 1, 0)
            found.append((size, f"|{attributes[0]}| = {size}"))
        elif _reaches(bounds, head):
            found.append((None, f"|{attributes[0]}|"))
    for attribute in attributes:
        for constant in _constants(work, attribute):
            values = {constant} if values is None else values & {constant}
        column, table = work.columns[attribute], work.tables[attribute.alias]
        if isinstance(table, Relation):
            found.append(_static_domain(work, table, column))
            within[(table.name, column.name)] = None
            continue
        if column.enum is not None and work.use(_domain_declaration(table, column)):
            values = set(column.enum) if values is None else values & set(column.enum)
        for relation, target in work.references(table, column):
            found.append(_static_domain(work, relation, target))
            within[(relation.name, target.name)] = None
    if values is not None:
        found.append((len(values), f"|{attributes[0]}| = {len(values)}"))
    holders = {owner[a.alias] for a in everyone}
    if all(members[i].finite for i in holders):
        found.extend(_finite_domain(work, members[i]) for i in sorted(holders))
    if not found:
        return Domain(False, None, "∞", low, high)
    known = [(size, text) for size, text in found if size is not None]
    size_, text = min(known, key=lambda f: f[0]) if known else found[0]
    allowed = None if values is None else tuple(sorted(values, key=str))
    return Domain(True, size_, text, low, high, allowed, tuple(within))


def _constants(work: _Normaliser, attribute: Attribute) -> Iterable[Scalar]:
    """The string constants an attribute is made equal to."""
    for condition in work.query.conditions:
        if (
            isinstance(condition, Compare)
            and condition.op is Op.EQ
            and condition.left == attribute
            and isinstance(condition.right, Constant)
            and isinstance(condition.right.value, str)
            and isinstance(work.columns[attribute].type, StringType)
        ):
            yield condition.right.value


def _least(values: tuple[Scalar, ...] | None) -> Scalar | None:
    return min(values, key=lambda v: (isinstance(v, str), v)) if values else None


def _greatest(values: tuple[Scalar, ...] | None) -> Scalar | None:
    return max(values, key=lambda v: (isinstance(v, str), v)) if values else None


def _reaches(bounds: DifferenceBounds, node: int) -> bool:
    """Whether a node has limits on both sides, by constants or by static values."""
    above = bounds.limit(node, _ZERO) or bounds.limit(node, _HIGH)
    below = bounds.limit(_ZERO, node) or bounds.limit(_LOW, node)
    return above is not None and below is not None


def _static_domain(work: _Normaliser, relation: Relation, column: Column) -> tuple[int | None, str]:
    name = f"|{relation.name}.{column.name}|"
    sizes = [relation.max_rows]
    known = work.statistics.columns.get((relation.name, column.name))
    if known is not None:
        sizes.append(known.distinct)
    if column.enum is not None:
        sizes.append(len(column.enum))
    numbers = [s for s in sizes if s is not None]
    if not numbers:
        return None, name
    return min(numbers), f"{name} = {min(numbers)}"


def _finite_domain(work: _Normaliser, member: Member) -> tuple[int | None, str]:
    limit = work.catalog.streams[member.stream].max_per_timestamp
    if limit is not None and member.first is not None and member.last is not None:
        steps = max(member.last - member.first + 1, 0)
        return limit * steps, f"R({member.stream}) = {limit} · {steps} steps of {member.alias}"
    return None, f"|{member.alias}| (finite stream)"


def _inequalities(
    work: _Normaliser,
    owner: Mapping[str, int],
    explicit: list[_Step],
    declared: list[_Step],
    bounds: DifferenceBounds,
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> tuple[Inequality, ...]:
    """The inequality joins that nothing else implies ([S] Def. 8), between classes."""
    if not bounds.satisfiable:
        return ()
    attribute_of = {node: attribute for attribute, node in work.values.items()}
    cross: list[_Step] = []
    base = DifferenceBounds(work.grains)
    for step in declared:
        base.add(step.left, step.right, step.limit)
    for group in classes:
        head = work.values[group.attributes[0][0]]
        for attribute, shift in group.attributes[1:]:
            node = work.values[attribute]
            base.add(node, head, Limit(shift))
            base.add(head, node, Limit(-shift))
    for step in explicit:
        if step.left < _FIRST_NODE or step.right < _FIRST_NODE:
            base.add(step.left, step.right, step.limit)
            continue
        left, right = attribute_of[step.left], attribute_of[step.right]
        x, y = classes[class_of[left]], classes[class_of[right]]
        if x.index == y.index:
            continue
        if owner[left.alias] == owner[right.alias]:
            base.add(step.left, step.right, step.limit)
        else:
            cross.append(step)
    found = []
    for step in _irredundant(base, cross):
        left, right = attribute_of[step.left], attribute_of[step.right]
        x, y = classes[class_of[left]], classes[class_of[right]]
        limit = bounds.tighten(step.left, step.right, step.limit)
        shift_x, shift_y = dict(x.attributes)[left], dict(y.attributes)[right]
        head_x, head_y = work.values[x.attributes[0][0]], work.values[y.attributes[0][0]]
        above = bounds.limit(head_x, _ZERO) or bounds.limit(head_x, _HIGH)
        below = bounds.limit(_ZERO, head_y) or bounds.limit(_LOW, head_y)
        discrete = x.grain > 0 and y.grain > 0
        finite = x.domain.finite and y.domain.finite
        found.append(
            Inequality(
                x=x.index,
                y=y.index,
                limit=limit.value - shift_x + shift_y,
                strict=limit.strict,
                clips=finite or (discrete and above is not None and below is not None),
                source=step.source,
            )
        )
    return tuple(found)


def _disequalities(
    work: _Normaliser,
    owner: Mapping[str, int],
    bounds: DifferenceBounds,
    class_of: Mapping[Attribute, int],
    classes: tuple[ValueClass, ...],
) -> tuple[Disequality, ...]:
    """The disequalities between members that no limit implies."""
    found = []
    for condition in work.query.conditions:
        if (
            not isinstance(condition, Compare)
            or condition.op is not Op.NE
            or not isinstance(condition.right, Attribute)
            or work.is_time(condition.left)
            or owner[condition.left.alias] == owner[condition.right.alias]
        ):
            continue
        x, y = classes[class_of[condition.left]], classes[class_of[condition.right]]
        if x.index == y.index:
            continue
        offset = Fraction(Decimal(condition.offset)) * work.units.unit
        shift = offset - dict(x.attributes)[condition.left] + dict(y.attributes)[condition.right]
        nodes = work.values[condition.left], work.values[condition.right]
        if bounds.implies(*nodes, Limit(offset, True)) or bounds.implies(
            *nodes[::-1], Limit(-offset, True)
        ):
            continue
        found.append(
            Disequality(
                x.index,
                y.index,
                int(shift) if shift.denominator == 1 else shift,
                condition.source,
            )
        )
    return tuple(found)
