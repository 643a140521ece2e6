"""What is declared of a view: as far as the declarations of its branches' tables hold of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import gcd

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    Lag,
    Reference,
    Relation,
    Scalar,
    Stream,
    StringType,
)
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, Types
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    OneOf,
    Op,
    TextColumn,
    ViewBranch,
)
from ontoweir.rewriter.model.weakest_lags import weakest_lags
from ontoweir.rewriter.views.find_key import determine_rows
from ontoweir.rewriter.views.pass_keys import pass_keys

_DATA = DataSource("derived", None)


def declare_relation(
    name: str, branches: Sequence[ViewBranch], catalog: Catalog, *, distinct: bool
) -> Relation:
    """A view over static relations: its columns, their types, and its key where it is a set."""
    columns = _columns(_list_domains(branches, catalog), frozenset())
    names = tuple(c.name for c in columns)
    return Relation(name, _DATA, columns, (names,) if distinct and names else ())


def declare_stream(
    name: str,
    branches: Sequence[ViewBranch],
    catalog: Catalog,
    *,
    distinct: bool,
    without: Sequence[ViewBranch] = (),
) -> Stream:
    """A view over streams (and static relations that their rows join): one stream, with the
    weakest of what is declared of each branch; keys, which are about pairs of rows, where branches
    exclude each other (pass_keys), and the one of a set. Its columns have the types of what is
    left out (`without`) too.

    Raises:
        QueryError: the branches have different units of time, or columns of different types.
    """
    streams = [_stream(b, catalog) for b in branches]
    first = streams[0]
    for stream in streams:
        if stream.step_us != first.step_us:
            raise UnitsDiffer.of(stream.step_us, first.step_us, stream.source)
    facts = [_read(_Branch(b, catalog)) for b in branches]
    domains = [f.domains for f in facts]
    columns = _columns(domains, frozenset({first.timestamp}), _list_domains(without, catalog))
    keys = pass_keys(branches, columns, domains, catalog)
    keys = tuple(dict.fromkeys((*keys, *((tuple(range(len(columns))),) if distinct else ()))))
    rates = [f.rate for f in facts]
    known = [r for r in rates if r is not None]
    starts = [s.start_us for s in streams if s.start_us is not None]
    return Stream(
        name,
        _DATA,
        first.timestamp,
        first.step_us,
        sum(known) if len(known) == len(rates) else None,
        columns,
        tuple((*(columns[n].name for n in key), first.timestamp) for key in keys),
        _references([f.held for f in facts], columns),
        first.source,
        lags=weakest_lags([_lags(b, s, columns) for b, s in zip(branches, streams, strict=True)]),
        start_us=min(starts) if len(starts) == len(streams) else None,
        unit_us=unit if (unit := gcd(*(s.grid_us for s in streams))) != first.step_us else None,
    )


def _stream(branch: ViewBranch, catalog: Catalog) -> Stream:
    assert branch.time is not None
    alias = branch.time.alias
    return catalog.streams[next(o.table for o in branch.occurrences if o.alias == alias)]


class _Branch:
    """A branch, and the tables that it reads: equal to others of the same objects."""

    __slots__ = ("branch", "catalog", "tables")

    def __init__(self, branch: ViewBranch, catalog: Catalog) -> None:
        self.branch, self.catalog = branch, catalog
        self.tables = tuple(catalog.table(o.table) for o in branch.occurrences)

    def __hash__(self) -> int:
        return hash((id(self.branch), *map(id, self.tables)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Branch)
            and self.branch is other.branch
            and all(a is b for a, b in zip(self.tables, other.tables, strict=True))
        )


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a branch says of each column; the columns of static relations that hold every value of
    it; the most rows of one timestamp."""

    domains: tuple[Column, ...]
    held: tuple[tuple[tuple[str, str], ...], ...]
    rate: int | None


@lru_cache(maxsize=1 << 12)
def _read(key: _Branch) -> _Facts:
    """What a branch says: once for all the catalogs that have the same tables, as those do which
    repairs declare."""
    branch, catalog = key.branch, key.catalog
    types = Types(catalog, branch.occurrences)
    classes = EqualityClasses(branch.occurrences, branch.conditions)
    places = range(len(branch.columns))
    return _Facts(
        tuple(_domain(branch, place, types, classes) for place in places),
        tuple(_held_in(branch, place, catalog, classes) for place in places),
        None if branch.time is None else _rate(branch, _stream(branch, catalog), catalog),
    )


def _list_domains(branches: Sequence[ViewBranch], catalog: Catalog) -> list[tuple[Column, ...]]:
    """What each branch says of each column."""
    return [_read(_Branch(b, catalog)).domains for b in branches]


def _columns(
    domains: Sequence[Sequence[Column]],
    taken: frozenset[str],
    without: Sequence[Sequence[Column]] = (),
) -> tuple[Column, ...]:
    """The view's columns, named as in the first branch that has a column there."""
    used = set(taken)
    columns = []
    for place in range(len(domains[0])):
        mine = [of_branch[place] for of_branch in domains]
        typed = [d for d in (*mine, *(of_branch[place] for of_branch in without)) if d.name]
        name = wanted = typed[0].name if typed else "iri"
        number = 2
        while name in used:
            name, number = f"{wanted}_{number}", number + 1
        used.add(name)
        columns.append(_unite(name, _widest(typed, mine), mine))
    return tuple(columns)


def _domain(branch: ViewBranch, place: int, types: Types, classes: EqualityClasses) -> Column:
    """What a branch says of a column: its type, and its domain, narrowed by its conditions. Without
    a name: it is a constant, and fits wherever it is compared."""
    attribute = branch.columns[place]
    if isinstance(attribute, Constant):
        return Column("", IntType(), enum=(attribute.value,))
    if isinstance(attribute, TextColumn):
        return Column("iri", StringType())
    table = types.tables[attribute.alias]
    declared = table.column(attribute.column)
    kind = types.type_of(attribute)
    if declared is None or isinstance(table, Relation):
        declared = Column(attribute.column, kind)
    low, high, enum = declared.minimum, declared.maximum, declared.enum
    for c in branch.conditions:
        if isinstance(c, OneOf) and classes.same(c.attribute, attribute):
            enum = c.values if enum is None else tuple(v for v in enum if v in c.values)
        if not isinstance(c, Compare) or not isinstance(c.right, Constant):
            continue
        if classes.find(c.left) != classes.find(attribute):
            continue
        number = c.right.value
        if c.op is Op.EQ:
            enum = (number,)
        if isinstance(number, str | bool) or (
            isinstance(kind, IntType) and not isinstance(number, int)
        ):
            continue
        if c.op in (Op.GE, Op.GT, Op.EQ):
            low = number if low is None or _less(low, number) else low
        if c.op in (Op.LE, Op.LT, Op.EQ):
            high = number if high is None or _less(number, high) else high
    return Column(attribute.column, kind, low, high, enum, declared.source)


def _less(left: Scalar, right: Scalar) -> bool:
    return Decimal(str(left)) < Decimal(str(right))


def _unite(name: str, kind: ColumnType, domains: Sequence[Column]) -> Column:
    """The union of what branches say of a column."""
    enum: tuple[Scalar, ...] | None = ()
    for d in domains:
        both = enum is not None and d.enum is not None
        enum = tuple(dict.fromkeys((*(enum or ()), *(d.enum or ())))) if both else None
    spans = [(d.minimum, d.maximum) for d in domains if d.name]
    constants = [v for d in domains if not d.name for v in d.enum or ()]
    low = _outermost([low for low, _ in spans], constants, least=True)
    high = _outermost([high for _, high in spans], constants, least=False)
    if enum is not None:
        low = high = None
    unlimited = (d for d in domains if d.enum is None and None in (d.minimum, d.maximum))
    source = next(unlimited, domains[0]).source  # what is missing, is missing there
    return Column(name, kind, low, high, enum, source)


def _outermost(
    ends: Sequence[Scalar | None], constants: Sequence[Scalar], *, least: bool
) -> Scalar | None:
    given = [e for e in ends if e is not None]
    if len(given) < len(ends):
        return None
    if any(isinstance(v, str | bool) for v in (*given, *constants)):
        return given[0] if len(set(given)) == 1 and not constants else None
    choose = min if least else max
    return choose((*given, *constants), key=lambda v: Decimal(str(v)))


def _widest(columns: Sequence[Column], domains: Sequence[Column]) -> ColumnType:
    """The type that has all values of some columns, and all constants beside them; where there are
    no columns, of the constants: numbers, or texts of IRIs.

    Raises:
        QueryError: there is none.
    """
    kinds = list(dict.fromkeys(c.type for c in columns))
    if all(isinstance(kind, IntType | DecimalType) for kind in kinds):
        whole = not kinds or IntType() in kinds
        constants = (_type_of(v, whole) for d in domains if not d.name for v in d.enum or ())
        kinds = list(dict.fromkeys((*kinds, *constants)))
    if len(kinds) == 1:
        return kinds[0]
    decimals = [k for k in kinds if isinstance(k, DecimalType)]
    if len(decimals) + (IntType() in kinds) == len(kinds):
        scale = max(k.scale for k in decimals)
        digits = [k.precision - k.scale for k in decimals] + [19] * (IntType() in kinds)
        if max(digits) + scale <= 38:
            return DecimalType(max(digits) + scale, scale)
    raise _differ(
        "the same triples are made from columns of different types: "
        + " and ".join(map(name_column_type, kinds)),
        "declare the columns with one type in ontoweir.toml, or write SELECT DISTINCT",
        columns[0].source if columns else None,
    )


def _type_of(constant: Scalar, whole: bool) -> ColumnType:
    """The type of a number (`whole`: where it can be, int; else a decimal); of others, texts."""
    match constant:
        case bool() | str():
            return StringType()
        case int() if whole and -(1 << 63) <= constant < 1 << 63:
            return IntType()
        case float():
            return FloatType()
        case int() | Decimal():
            _, digits, exponent = Decimal(constant).as_tuple()
            assert isinstance(exponent, int)
            scale = max(0, -exponent)
            return DecimalType(max(len(digits) + max(0, exponent), scale), scale)


def _references(
    held: Sequence[tuple[tuple[tuple[str, str], ...], ...]], columns: Sequence[Column]
) -> tuple[Reference, ...]:
    """The columns of static relations that hold every value of a column, given for each branch
    those of each of its columns."""
    references = []
    for place, column in enumerate(columns):
        of_each = [of_branch[place] for of_branch in held]
        common = [h for h in of_each[0] if all(h in other for other in of_each[1:])]
        references += [Reference((column.name,), table, (to,)) for table, to in common]
    return tuple(references)


def _held_in(
    branch: ViewBranch, place: int, catalog: Catalog, classes: EqualityClasses
) -> tuple[tuple[str, str], ...]:
    attribute = branch.columns[place]
    if not isinstance(attribute, Attribute):
        return ()
    held: list[tuple[str, str]] = []
    for occurrence in branch.occurrences:
        table = catalog.table(occurrence.table)
        if isinstance(table, Relation):
            held += [
                (table.name, c.name)
                for c in table.columns
                if classes.find(Attribute(occurrence.alias, c.name)) == classes.find(attribute)
            ]
            continue
        held += [
            (r.relation, r.to[0])
            for r in table.references
            if len(r.columns) == 1
            and classes.find(Attribute(occurrence.alias, r.columns[0])) == classes.find(attribute)
        ]
    return tuple(dict.fromkeys(held))


def _rate(branch: ViewBranch, stream: Stream, catalog: Catalog) -> int | None:
    """The most rows of one timestamp, where each row of the stream makes one at most."""
    assert branch.time is not None
    alias = branch.time.alias
    row = {Attribute(alias, c.name) for c in stream.columns} | {branch.time}
    others = [o for o in branch.occurrences if o.alias != alias]
    if determine_rows(others, branch.conditions, row, catalog) is None:
        return None
    return stream.max_per_timestamp


def _lags(branch: ViewBranch, stream: Stream, columns: Sequence[Column]) -> tuple[Lag, ...]:
    """The lags of a branch's stream on columns that the view has."""
    if not stream.lags:
        return ()
    assert branch.time is not None
    names = {
        a.column: c.name
        for a, c in zip(branch.columns, columns, strict=True)
        if isinstance(a, Attribute) and a.alias == branch.time.alias
    }
    return tuple(
        Lag(lag.behind, tuple(names[c] for c in lag.columns), lag.to, lag.within_us, lag.source)
        for lag in stream.lags
        if set(lag.columns) <= set(names)
    )


def _differ(what: str, fix: str, source: Source | None) -> QueryError:
    return QueryError(
        what, why="equal triples count once, and these do not compare", fix=fix, source=source
    )
