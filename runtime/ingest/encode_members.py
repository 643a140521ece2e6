"""A chunk's columns as the members of plans want them: numbers, of the rows that can be theirs."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Member, NormalForm
from ontoweir.mappings.model.catalog import Catalog, Column, DecimalType, FloatType, StringType
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.runtime.columnar.encode import Encoded, as_texts, by_codes, encode_column
from ontoweir.runtime.columnar.frame import Array, list_true
from ontoweir.runtime.ingest.admit_rows import Admitted, ColumnMemory
from ontoweir.runtime.ingest.encode_statics import Arrival, find_present, null_attributes
from ontoweir.runtime.ingest.find_buckets import find_buckets
from ontoweir.runtime.ingest.select_candidates import (
    Selection,
    find_wanted,
    keep_selected,
    pick_pieces,
    plain_pieces,
)
from ontoweir.runtime.pool.hash_slots import EMPTY
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_table import Codes, TextTable, take_rows
from ontoweir.runtime.sources.derive_values import derive_values


@dataclass(frozen=True, slots=True)
class _Found:
    """A column of strings (None: all are permanent) looked up among permanent ones."""

    permanent: TextTable
    column: "pa.Array | pa.ChunkedArray | None"
    codes: Codes


@dataclass(frozen=True, slots=True)
class _Coded:
    """A column of strings with the codes of a pool, whose strings only become more."""

    permanent: TextTable
    others: TextTable
    codes: Encoded


FEW = 4
"""Candidates are picked out where they are at most one row in so many."""


_MOST = 0.75
"""Texts of up to so large a part of the rows are picked out to be looked up."""

_Rows: TypeAlias = Selection | Literal["wanted"] | None
"""Rows of a chunk: those of a selection, those that any member wants, or all."""


class MemberEncoder:
    """Columns of a chunk in units. Of members that few tuples can be, only these are encoded;
    otherwise numbers are encoded once for all plans of one unit.

    Args:
        catalog: the tables.
        admitted: what was admitted of streams.
        wanted: by stream, what the candidates of all members keep that will be asked for. Where
            these are many rows, their texts are looked up at once, and of other rows none (a stream
            that is not there: for each member by itself).
        few: candidates are picked out where they are at most one row in so many.
    """

    def __init__(
        self,
        catalog: Catalog,
        admitted: Mapping[str, Admitted],
        wanted: Mapping[str, Set[Selection]] | None = None,
        few: int = FEW,
    ) -> None:
        self.catalog, self.admitted, self.few = catalog, admitted, few
        self.wanted = wanted or {}
        self.unions: dict[str, Array | None] = {}
        self.spread: dict[tuple[str, str, int], Encoded] = {}
        self.own: dict[str, ColumnMemory] = {}
        """What was made of columns that the query's catalog derives, by stream."""
        self.found: dict[tuple[str, _Rows, str, int], _Found] = {}
        self.coded: dict[tuple[str, _Rows, str, int], _Coded] = {}
        self.buckets: dict[tuple[str, str], pa.ChunkedArray] = {}
        self.derived: dict[tuple[str, str], pa.ChunkedArray] = {}

    def arrival(
        self, member: Member, form: NormalForm, pool: StringPool, selection: Selection
    ) -> Arrival:
        """The tuples that can be a member's (select_candidates), with the columns that it has in
        its plan."""
        name = member.stream
        rows = self.admitted[name]
        columns = sorted({a.column for a in form.class_of if a.alias == member.alias})
        absent = {a.column for a in null_attributes(form) if a.alias == member.alias}
        if self.are_none(member, form):
            return self._no_rows(name, columns, absent)
        present = {c: self._find_present(name, c) for c in absent}
        index = self.candidates(name, selection)
        units = {c: form.unit_of(form.kinds[Attribute(member.alias, c)]) for c in columns}
        if index is None:
            encoded = {c: self._encode(name, c, units[c], pool) for c in columns}
            sums = {c: self._scale_sums(name, c, units[c]) for c in columns if c in rows.sums}
            return Arrival(
                rows.steps.all(), encoded, present, rows.among, rows.limits, rows.weights, sums
            )
        return Arrival(
            rows.steps.at(index),
            {c: self._encode_some(name, c, units[c], pool, selection, index) for c in columns},
            {c: mask[index] for c, mask in present.items()},
            rows.among,
            rows.limits,
            None if rows.weights is None else rows.weights[index],
            {c: self._scale_sums(name, c, units[c])[index] for c in columns if c in rows.sums},
        )

    def _scale_sums(self, stream: str, name: str, unit: int) -> Array:
        """What values of a column add up to, in units."""
        kind = self._column(stream, name).type
        each = unit // 10**kind.scale if isinstance(kind, DecimalType) else unit
        return self.admitted[stream].sums[name] * each

    def are_none(self, member: Member, form: NormalForm) -> bool:
        """Whether no tuple can be a member's, as a column that has to be NULL is so in no row."""
        return any(
            not self.values(member.stream, a.column).null_count
            for a in null_attributes(form)
            if a.alias == member.alias
        )

    def _no_rows(self, stream: str, columns: Sequence[str], absent: Set[str]) -> Arrival:
        """What nothing arrives as: no column is encoded for it."""
        rows, none = self.admitted[stream], np.zeros(0, dtype=np.bool_)
        dense = {c for c in columns if isinstance(self._column(stream, c).type, FloatType)}
        empty = {
            c: Encoded(np.zeros(0, np.float64 if c in dense else np.int64), none) for c in columns
        }
        return Arrival(rows.steps.all()[:0], empty, dict.fromkeys(absent, none), rows.among)

    def candidates(self, stream: str, selection: Selection) -> Array | None:
        """The rows of a stream, by number, that are encoded for members with that selection (None:
        all of them)."""
        index = self._select(stream, selection)
        if index is None or len(index) * self.few > len(self.admitted[stream].steps):
            return None
        return index

    def _select(self, stream: str, selection: Selection) -> Array | None:
        """The rows of a stream, by number, that keep some limits (None: all, or not known). Several
        members often want the same."""
        selected = self._memory(stream, *(limits[0] for limits in selection)).selected
        if selection not in selected:
            names = [limits[0] for limits in selection]
            masks = self._memory(stream, *names).masks
            good = keep_selected(selection, partial(self._plain, stream), masks)
            selected[selection] = None if good is None else list_true(good)
        return selected[selection]

    def _find_present(self, stream: str, name: str) -> Array:
        """Where a column has a value (find_present)."""
        present = self._memory(stream, name).present
        if name not in present:
            present[name] = find_present(self.values(stream, name))
        return present[name]

    def _plain(self, stream: str, name: str) -> Sequence[Array] | None:
        """A column of whole numbers (plain_pieces)."""
        plain = self._memory(stream, name).plain
        if name not in plain:
            plain[name] = plain_pieces(self.values(stream, name))
        return plain[name]

    def _encode(self, stream: str, name: str, unit: int, pool: StringPool) -> Encoded:
        if name in self.admitted[stream].filled:
            return _filled(len(self.admitted[stream].steps))
        column = self._column(stream, name)
        if isinstance(column.type, StringType):
            return self._encode_texts(stream, name, pool, None, None)
        encoded, key = self._memory(stream, name).encoded, (name, column.type, unit)
        if key not in encoded:
            values = self.values(stream, name)
            encoded[key] = _encode_values(values, column, unit, pool, f"{stream}.{name}")
        return encoded[key]

    def _encode_some(
        self,
        stream: str,
        name: str,
        unit: int,
        pool: StringPool,
        selection: Selection,
        index: Array,
    ) -> Encoded:
        if name in self.admitted[stream].filled:
            return _filled(len(index))
        column = self._column(stream, name)
        if isinstance(column.type, StringType):
            return self._encode_texts(stream, name, pool, selection, index)
        memory = self._memory(stream, name, *(limits[0] for limits in selection))
        key = (selection, name, column.type, unit)
        if key in memory.some:
            return memory.some[key]
        if (known := memory.encoded.get(key[1:])) is not None:
            return known.take(index)
        values = self.values(stream, name)
        plain = self._plain(stream, name) if values.null_count == 0 else None
        some = take_rows(values, index) if plain is None else pa.array(pick_pieces(plain, index))
        memory.some[key] = _encode_values(some, column, unit, pool, f"{stream}.{name}")
        return memory.some[key]

    def _encode_texts(
        self,
        stream: str,
        name: str,
        pool: StringPool,
        selection: Selection | None,
        index: Array | None,
    ) -> Encoded:
        """Codes of some rows (None: all), those of a selection. Of rows that no member wants there
        is none."""
        union = self.unite(stream)
        if union is None or len(union) * self.few <= len(self.admitted[stream].steps):
            return self._look_up((stream, selection, name), index, pool)
        key = (stream, name, id(pool.others))
        if key not in self.spread:
            self.spread[key] = self._spread((stream, "wanted", name), union, pool)
        whole = self.spread[key]
        return whole if index is None else whole.take(index)

    def _spread(self, place: tuple[str, _Rows, str], union: Array, pool: StringPool) -> Encoded:
        """Codes of some rows among all; those of dictionaries are found for all at once."""
        stream, _, name = place
        rows = len(self.admitted[stream].steps)
        if len(union) > _MOST * rows or pa.types.is_dictionary(self.values(stream, name).type):
            return self._look_up((stream, None, name), None, pool)
        codes = np.full(rows, EMPTY, dtype=np.int64)
        codes[union] = self._look_up(place, union, pool).values
        return by_codes(codes)

    def unite(self, stream: str) -> Array | None:
        """The rows of a stream, by number, that any member wants (None: not known)."""
        if stream not in self.unions:
            wanted = self.wanted.get(stream, ())
            masks = self._memory(stream, *(limits[0] for one in wanted for limits in one)).masks
            self.unions[stream] = find_wanted(wanted, partial(self._plain, stream), masks)
        return self.unions[stream]

    def _look_up(
        self, place: tuple[str, _Rows, str], index: Array | None, pool: StringPool
    ) -> Encoded:
        """The codes of rows of a column of strings (`index`: None: of all); those that are
        permanent are found once."""
        key = (*place, id(pool.permanent))  # which is kept, so that no other has its id
        stream, _, name = place

        def read() -> "pa.Array | pa.ChunkedArray":
            whole = self.values(stream, name)
            some = whole if index is None else take_rows(whole, index)
            return as_texts(some, f"{stream}.{name}")

        if key not in self.found:
            coded = self.admitted[stream].coded.get(name)
            if coded is None:
                column = read()
                codes = pool.permanent.find(column)
            else:
                mine = coded.codes if index is None else coded.codes[index]
                codes = pool.permanent.translate(coded.table, mine)
                column = None if (codes >= 0).all() else read()
            self.found[key] = _Found(pool.permanent, column, codes)
        whole = (*place, id(pool.others))
        if whole not in self.coded:
            found = self.found[key]
            whole_codes = found.codes
            if found.column is not None:
                whole_codes = pool.complete(found.column, found.codes)
            encoded = by_codes(whole_codes)
            self.coded[whole] = _Coded(pool.permanent, pool.others, encoded)
        return self.coded[whole].codes

    def values(self, stream: str, name: str) -> "pa.ChunkedArray":
        """A column as it is in the data; a bucket of time as the timestamps say, and a derived
        column as it is computed.

        Raises:
            DataError: an expression has no value for a row.
        """
        column = self._column(stream, name)
        if column.expression is not None:
            if (stream, name) not in self.derived:
                rows = self.admitted[stream]
                source = self.catalog.streams[stream]
                made = derive_values(column.expression, source, rows.steps.all(), rows.table)
                self.derived[stream, name] = made
            return self.derived[stream, name]
        if column.bucket is None:
            return self.admitted[stream].table.column(name)
        if (stream, name) not in self.buckets:
            steps = self.admitted[stream].steps.all()
            times = steps * self.catalog.streams[stream].step_us
            self.buckets[stream, name] = find_buckets(column.bucket, times)
        return self.buckets[stream, name]

    def _memory(self, stream: str, *names: str) -> ColumnMemory:
        """What was made of columns of a stream: by all queries, where none of them is derived."""
        columns = (self._column(stream, name) for name in names)
        if all(c.expression is None and c.bucket is None for c in columns):
            return self.admitted[stream].memory
        return self.own.setdefault(stream, ColumnMemory())

    def _column(self, stream: str, name: str) -> Column:
        column = self.catalog.streams[stream].column(name)
        assert column is not None
        return column


def _filled(count: int) -> Encoded:
    """A column whose values nobody looks at, none of which is NULL."""
    return Encoded(np.zeros(count, np.int64), np.ones(count, np.bool_))


def _encode_values(
    values: "pa.ChunkedArray | pa.Array", column: Column, unit: int, pool: StringPool, name: str
) -> Encoded:
    if pa.types.is_null(values.type):
        return Encoded(np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_))
    return encode_column(values, column.type, unit, pool, name)
