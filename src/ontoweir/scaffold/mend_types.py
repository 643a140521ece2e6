"""Mend the types of columns of which the beginning of a file said too little."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
    TimeFormat,
    TimestampType,
)
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.measuring.measure_streams import measure_streams
from ontoweir.run.check_data import DataCheck
from ontoweir.scaffold.sniff_csv import stands_for_nothing

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredStream

_ROUNDS = 8
"""So many times it is looked for more values that are not of their types."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHY = " is not of its type"
_TYPED = frozenset(("parquet", "arrow", "avro", "delta", "iceberg"))
"""Times of these that are not of their type are finer than a microsecond."""
_OFTEN = 0.01
"""Where of so many of the rows the values are none, a column is one of texts."""


def mend_types(
    catalog: Catalog, measured: "Mapping[str, MeasuredStream]", spark: Any
) -> "tuple[Catalog, dict[str, MeasuredStream]]":
    """The catalog, such that all rows at hand have values of their types, and what is measured of
    it: texts that stand for what is missing are NULL (of CSV); numbers with a fraction among whole
    ones make a column one of doubles; other texts, where they are frequent, one of texts. Where
    they are rare, they are left: these rows are rejected. Of times in nanoseconds that of the rows
    is read without these (`format = "iso"`), and other columns of such are left out, as are those
    of which half or more are NaN.

    Args:
        catalog: the tables.
        measured: of its streams.
        spark: gives the session where a source needs it.

    Raises:
        DataError: data cannot be read.
    """
    found = dict(measured)
    for name in found:
        odd = {n for n, count in found[name].nan.items() if 2 * count >= found[name].rows}
        if odd:
            columns = tuple(c for c in catalog.streams[name].columns if c.name not in odd)
            mended = replace(catalog.streams[name], columns=columns)
            catalog = replace(catalog, streams={**catalog.streams, name: mended})
        for _ in range(_ROUNDS):
            stream = catalog.streams[name]
            untimed = found[name].untimed and _is_typed(stream) and stream.written is None
            wrong = found[name].mistyped or untimed
            mended = _mend(stream, catalog, found[name], spark) if wrong else stream
            if mended == stream:
                break
            catalog = replace(catalog, streams={**catalog.streams, name: mended})
            found |= measure_streams(catalog, [mended], spark, None)
    return catalog, found


def tell_texts(
    guessed: Catalog, mended: Catalog, measured: "Mapping[str, MeasuredStream]"
) -> tuple[tuple[str, str], ...]:
    """By table, which columns are of texts, though most of their values are no such.

    Args:
        guessed, mended: the catalog before and after.
        measured: of the streams before.
    """
    return tuple(
        (name, _tell_text(column, measured[name]))
        for name, stream in guessed.streams.items()
        for column in stream.columns
        if isinstance(column.type, FloatType | IntType | BooleanType)
        if (made := mended.streams[name].column(column.name)) is not None
        if made.type == StringType()
    )


def tell_nan(
    catalog: Catalog, measured: "Mapping[str, MeasuredStream]"
) -> tuple[tuple[str, str], ...]:
    """By stream, which of its columns have NaN in how many rows, which are rejected."""
    told = []
    for name, found in measured.items():
        for column, count in found.nan.items():
            if count and catalog.streams[name].column(column) is not None:
                rows = f"{count:,} of {found.rows:,} rows"
                why = f"{column} is NaN in {rows}, which are rejected: NULL would say that there is"
                told.append((name, f"{why} no number"))
    return tuple(told)


def _tell_text(column: Column, measured: "MeasuredStream") -> str:
    kind = name_column_type(column.type)
    others = f"{measured.mistyped.get(column.name, 0):,} of {measured.rows:,} rows"
    return (
        f"{column.name} is of texts, as {others} have others than those of {kind} there; "
        f"declared as {kind}, these rows would be rejected, and the others be {kind}"
    )


def _mend(stream: Stream, catalog: Catalog, measured: "MeasuredStream", spark: Any) -> Stream:
    """The stream as some of its wrong values say that it should be declared."""
    wrong = DataCheck(catalog, spark).find_in(stream)
    for violation in wrong.violations:
        named = violation.reason.removesuffix(_WHY)
        column = stream.column(named)
        finer = _is_typed(stream) and violation.reason.endswith(_WHY)
        if finer and named == stream.timestamp and stream.written is None:
            return replace(stream, written=TimeFormat("iso", (named,)))
        if column is None or not violation.reason.endswith(_WHY):
            continue
        if finer and isinstance(column.type, TimestampType):
            return replace(stream, columns=tuple(c for c in stream.columns if c != column))
        texts = [str(e.values.get(column.name)).strip() for e in violation.examples]
        if stream.data.format == "csv" and (nulls := [t for t in texts if stands_for_nothing(t)]):
            return _leave_out(stream, nulls)
        kind = _widen(column.type, texts)
        if kind is None and violation.rows > _OFTEN * measured.rows:
            kind = StringType()
        if kind is not None:
            columns = (replace(c, type=kind) if c == column else c for c in stream.columns)
            return replace(stream, columns=tuple(columns))
    return stream


def _is_typed(stream: Stream) -> bool:
    """Whether its files have times as such."""
    return stream.data.format in _TYPED


def _widen(kind: ColumnType, texts: list[str]) -> ColumnType | None:
    """A type of numbers that has these, too (None: there is none)."""
    numbers = isinstance(kind, IntType | DecimalType) and all(map(_NUMBER.fullmatch, texts))
    return FloatType() if numbers else None


def _leave_out(stream: Stream, nulls: list[str]) -> Stream:
    """The stream, with more texts that stand for what is missing."""
    options = dict(stream.data.options)
    known = [*options.get("nullValues", "").split("|"), *nulls]
    options["nullValues"] = "|".join(dict.fromkeys(t for t in known if t))
    return replace(stream, data=replace(stream.data, options=tuple(options.items())))
