"""Static relations as numbers, and the columns of a plan that it takes from tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.normal_form import Kind, Member, NormalForm
from ontoweir.checker.model.units import Units, kind_of
from ontoweir.mappings.model.catalog import Catalog, Relation, Scalar
from ontoweir.rewriter.model.spj import (
    Attribute,
    FoldFunction,
    IsNull,
)
from ontoweir.runtime.columnar.add_exact import Ends
from ontoweir.runtime.columnar.columns import total
from ontoweir.runtime.columnar.encode import Encoded, encode_column, scale_floats
from ontoweir.runtime.columnar.frame import Array, Name, expand, pair_up
from ontoweir.runtime.columnar.value_set import ValueSet, value_set
from ontoweir.runtime.ingest.list_references import ColumnPlace, compare_within
from ontoweir.runtime.nulls.fill_null import fill_null
from ontoweir.runtime.pool.string_pool import StringPool

_APART = 8
"""Values of a column that has on average a row for so many are looked up in a table."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Tuples of one stream in a chunk: their steps, in order, and the columns in use; `present`:
    of columns that may have to be NULL, where they are not; `among`: values that columns of strings
    are known to be among, where they are not NULL; `limits`: the least and the greatest value that
    columns of whole numbers are known to keep; `weights`: how often each counts (None: once);
    `sums`: what the values add up to of the rows that each stands for, in units, by column."""

    steps: Array
    columns: Mapping[str, Encoded]
    present: Mapping[str, Array] = field(default_factory=dict)
    among: Mapping[str, frozenset[str]] = field(default_factory=dict)
    limits: Mapping[str, Ends] = field(default_factory=dict)
    weights: Array | None = None
    sums: Mapping[str, Array] = field(default_factory=dict)


def list_totals(
    form: NormalForm, member: Member, arrival: Arrival, rows: Array
) -> dict[Name, Array]:
    """The sums of a plan's folds over what some of the arrived rows stand for, where that is more
    than each as often as it counts."""
    totals: dict[Name, Array] = {}
    for place, fold in enumerate(form.folds or ()):
        if fold.function is FoldFunction.SUM and fold.member == member.index:
            attributes = next(c.attributes for c in form.classes if c.index == fold.value)
            for attribute, _ in attributes:
                if attribute.alias == member.alias and attribute.column in arrival.sums:
                    totals[total(place)] = arrival.sums[attribute.column][rows]
    return totals


@dataclass(frozen=True, slots=True)
class Partners:
    """Some rows of a static relation, to be found by the values of some columns.

    Args:
        rows: their numbers; where there are `ends`, in the order of the one column.
        columns: of these rows, the columns.
        low: the least value of the one column.
        ends: for each value from `low` on, where the rows with those before it end (None: the
            values lie far apart, are no whole numbers, or not of one column).
        single: where no value has two rows, the number of each one's row; -1: it has none, as the
            last has none.
    """

    rows: Array
    columns: tuple[Array, ...]
    low: int = 0
    ends: Array | None = None
    single: Array | None = None

    def find(self, columns: Sequence[Array], count: int) -> tuple[Array | None, Array]:
        """For `count` rows with values of the columns, all pairs with rows of the relation that
        have the same: which row, in order (None: each is in one), and the number of its partner."""
        if self.ends is None or columns[0].dtype != np.int64:
            order, start, length = pair_up(columns, self.columns, count, len(self.rows))
            index, place = expand(start, length)
            return index, self.rows[order[place]]
        place = columns[0] - self.low  # a difference that overflows is none of those inside
        last = len(self.ends) - 2
        outside = (place < 0) | (place >= last)
        if outside.any():
            place = np.where(outside, last, place)  # there no row is
        if self.single is not None:
            partner = self.single[place]
            found = partner >= 0
            return (None, partner) if found.all() else (np.flatnonzero(found), partner[found])
        start = self.ends[place]
        index, found = expand(start, self.ends[place + 1] - start)
        return index, self.rows[found]


def _index_rows(rows: Array, columns: tuple[Array, ...]) -> Partners:
    """Rows of a static relation by some columns."""
    if len(columns) != 1 or columns[0].dtype != np.int64 or not len(rows):
        return Partners(rows, columns)
    low, high = int(columns[0].min()), int(columns[0].max())
    if high - low > _APART * len(rows):
        return Partners(rows, columns)
    place = columns[0] - low
    ends = np.zeros(high - low + 3, dtype=np.int64)
    np.cumsum(np.bincount(place, minlength=high - low + 2), out=ends[1:])
    single = None
    if int(np.diff(ends).max()) == 1:
        single = np.full(high - low + 2, -1, dtype=np.int64)
        single[place] = rows
    order = np.argsort(place, kind="stable")
    return Partners(rows[order], (columns[0][order],), low, ends, single)


@dataclass(frozen=True, slots=True)
class StaticData:
    """A static relation's columns in use, encoded; `present`: of columns that may have to be NULL,
    where they are not."""

    rows: int
    columns: Mapping[str, Encoded]
    present: Mapping[str, Array] = field(default_factory=dict)
    sets: dict[str, ValueSet] = field(default_factory=dict, compare=False)
    """Of columns, those that were asked for."""
    indexes: dict[tuple[tuple[str, ...], ...], Partners] = field(
        default_factory=dict, compare=False
    )
    """Those that were asked for."""
    filled: dict[tuple[str, int | float], Array] = field(default_factory=dict, compare=False)
    """Columns with what stands for NULL, those that were asked for."""

    def among(self, name: str) -> ValueSet:
        """The values of a column."""
        if name not in self.sets:
            column = self.columns[name]
            self.sets[name] = value_set(column.values[column.valid])
        return self.sets[name]

    def fill(self, name: str, null: int | float) -> Array:
        """The values of a column, with what stands for NULL where there is none."""
        if (name, null) not in self.filled:
            self.filled[name, null] = fill_null(self.columns[name], null, name)
        return self.filled[name, null]

    def partners(
        self, by: tuple[str, ...], filled: tuple[str, ...], absent: tuple[str, ...]
    ) -> Partners:
        """The rows with a value in the columns `filled` and none in those `absent`, to be found
        by some columns."""
        key = by, filled, absent
        if key not in self.indexes:
            usable = np.ones(self.rows, dtype=np.bool_)
            for name in filled:
                usable &= self.columns[name].valid
            for name in absent:
                usable &= ~self.present[name]
            rows = np.flatnonzero(usable)
            columns = tuple(self.columns[name].values[rows] for name in by)
            self.indexes[key] = _index_rows(rows, columns)
        return self.indexes[key]


def used_columns(form: NormalForm) -> dict[str, set[str]]:
    """Per table, the columns (other than timestamps) that a disjunct mentions."""
    tables = {o.alias: o.table for o in form.query.occurrences}
    used: dict[str, set[str]] = {o.table: set() for o in form.query.occurrences}
    for attribute in form.class_of:
        used[tables[attribute.alias]].add(attribute.column)
    return used


def valued_columns(form: NormalForm, catalog: Catalog) -> dict[str, set[str]]:
    """Per table, the columns whose values a disjunct's intake looks at."""
    valued = used_columns(form)
    for places in compare_within(form, catalog).values():
        for table, column in places:
            valued.setdefault(table, set()).add(column)
    return valued


def needed_columns(form: NormalForm, catalog: Catalog) -> dict[str, set[str]]:
    """These, and the columns that have to be NULL."""
    needed = valued_columns(form, catalog)
    for table, columns in null_columns(form).items():
        needed.setdefault(table, set()).update(columns)
    return needed


def null_attributes(form: NormalForm) -> tuple[Attribute, ...]:
    """The attributes that have to be NULL."""
    return tuple(c.attribute for c in form.query.conditions if isinstance(c, IsNull))


def null_columns(form: NormalForm) -> dict[str, set[str]]:
    """Per table, the columns that have to be NULL in some member."""
    tables = {o.alias: o.table for o in form.query.occurrences}
    absent: dict[str, set[str]] = {}
    for attribute in null_attributes(form):
        absent.setdefault(tables[attribute.alias], set()).add(attribute.column)
    return absent


def find_present(column: "pa.ChunkedArray | pa.Array") -> Array:
    """Where a column has a value."""
    if not column.null_count:
        return np.ones(len(column), dtype=np.bool_)
    mask: Array = pc.is_valid(column).to_numpy(zero_copy_only=False)
    return mask


def encode_static(
    relation: Relation,
    table: pa.Table,
    columns: set[str],
    units: Units,
    pool: StringPool,
) -> StaticData:
    """Encode columns of a static relation. `table`: its rows, which are held to what is declared of
    it (load_statics)."""
    return StaticData(
        table.num_rows,
        {
            c.name: encode_column(
                table.column(c.name),
                c.type,
                units.of(kind_of(c.type)),
                pool,
                f"{relation.name}.{c.name}",
                distinct=(c.name,) in relation.keys,
            )
            for c in relation.columns
            if c.name in columns
        },
    )


def encode_statics(
    form: NormalForm,
    catalog: Catalog,
    tables: Mapping[str, pa.Table],
    pool: StringPool,
    known: dict[object, StaticData],
    more: Iterable[ColumnPlace] = (),
) -> dict[str, StaticData]:
    """The static relations that a form looks at, encoded; `known`: those that are encoded already
    with the pool, to which others are added, columns one by one as plans have different ones of
    them; `more`: columns that are looked at besides."""
    valued, absent = valued_columns(form, catalog), null_columns(form)
    for place, column in more:
        valued.setdefault(place, set()).add(column)
    encoded = {}
    for name, relation in catalog.relations.items():
        if name in valued or name in absent:
            columns, nulls = valued.get(name, set()), frozenset(absent.get(name, set()))
            units = Units(form.unit, {}, form.floats)
            key = (name, frozenset(columns), form.unit, form.floats, nulls)
            if key not in known:
                table, made = tables[name], dict[str, Encoded]()
                for column in sorted(columns):
                    one = (name, column, form.unit, form.floats)
                    if one not in known:
                        known[one] = encode_static(relation, table, {column}, units, pool)
                    made |= known[one].columns
                present = {column: find_present(table.column(column)) for column in nulls}
                known[key] = StaticData(table.num_rows, made, present)
            encoded[name] = known[key]
    return encoded


def code_constant(constant: Scalar, kind: Kind, units: Units, pool: StringPool) -> int | float:
    """The number that stands for a constant: in units, or the code of a string."""
    if kind is Kind.STRING:
        return pool.code(str(constant))
    exact = units.value(constant, kind)
    if isinstance(exact, int):
        return exact
    if kind is Kind.FLOAT:  # as a column's doubles, so that it equals them
        scaled: float = scale_floats(np.array([float(constant)]), units.floats)[0].item()
        return scaled
    return float(exact)


@lru_cache(maxsize=64)
def allowed_numbers(values: tuple[Scalar, ...], kind: Kind, unit: int) -> ValueSet:
    """The numbers of a domain that has no strings; it is looked at in every chunk."""
    units = Units(unit, {}, unit)
    codes = [code_constant(v, kind, units, StringPool()) for v in values]
    there = [c for c in codes if isinstance(c, float) or -(1 << 63) <= c < 1 << 63]
    return value_set(np.array(there))
