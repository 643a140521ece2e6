"""Static relations as numbers, and the columns of a plan that it takes from tables."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.normal_form import Kind, NormalForm
from ontoweir.checker.model.units import Units, kind_of
from ontoweir.mappings.model.catalog import Catalog, Relation, Scalar
from ontoweir.rewriter.model.spj import (
    Attribute,
    IsNull,
)
from ontoweir.runtime.columnar.encode import Encoded, encode_column, scale_floats
from ontoweir.runtime.columnar.frame import (
    Array,
)
from ontoweir.runtime.columnar.value_set import ValueSet, value_set
from ontoweir.runtime.ingest.list_references import ColumnPlace, compare_within
from ontoweir.runtime.pool.string_pool import StringPool


@dataclass(frozen=True, slots=True)
class Arrival:
    """Tuples of one stream in a chunk: their steps, in order, and the columns in use; `present`:
    of columns that may have to be NULL, where they are not."""

    steps: Array
    columns: Mapping[str, Encoded]
    present: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StaticData:
    """A static relation's columns in use, encoded; `present`: of columns that may have to be NULL,
    where they are not."""

    rows: int
    columns: Mapping[str, Encoded]
    present: Mapping[str, Array] = field(default_factory=dict)
    sets: dict[str, ValueSet] = field(default_factory=dict, compare=False)
    """Of columns, those that were asked for."""

    def among(self, name: str) -> ValueSet:
        """The values of a column."""
        if name not in self.sets:
            column = self.columns[name]
            self.sets[name] = value_set(column.values[column.valid])
        return self.sets[name]


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
    absent: Set[str] = frozenset(),
) -> StaticData:
    """Encode a static relation's columns in use; `absent`: those that may have to be NULL."""
    return StaticData(
        table.num_rows,
        {
            c.name: encode_column(
                table.column(c.name),
                c.type,
                units.of(kind_of(c.type)),
                pool,
                f"{relation.name}.{c.name}",
            )
            for c in relation.columns
            if c.name in columns
        },
        {name: find_present(table.column(name)) for name in absent},
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
    with the pool, to which others are added; `more`: columns that are looked at besides."""
    valued, absent = valued_columns(form, catalog), null_columns(form)
    for table, column in more:
        valued.setdefault(table, set()).add(column)
    encoded = {}
    for name, relation in catalog.relations.items():
        if name in valued or name in absent:
            columns, nulls = valued.get(name, set()), frozenset(absent.get(name, set()))
            units = Units(form.unit, {}, form.floats)
            key = (name, frozenset(columns), form.unit, form.floats, nulls)
            if key not in known:
                known[key] = encode_static(relation, tables[name], columns, units, pool, nulls)
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
