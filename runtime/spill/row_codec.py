"""Rows of a plan's tables as they are on disk, with their texts, and back; and their hashes."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.runtime.columnar.columns import is_value, read_name, value, write_name
from ontoweir.runtime.columnar.frame import Array, Frame, Name
from ontoweir.runtime.kept.hash_rows import hash_rows
from ontoweir.runtime.pool.hash_texts import hash_texts
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_table import TEXT

_RAW = "#"
"""Ends the name of what a column has that is no code of a text."""


class RowCodec:
    """Codes of texts are those of a pool, which gets new ones for texts that it does not have."""

    def __init__(self, plan: SynopsisPlan, pool: StringPool) -> None:
        self.classes, self.pool = plan.form.classes, pool

    def write(self, frame: Frame) -> pa.Table:
        """Rows as a table."""
        columns: dict[str, pa.Array] = {}
        for name, column in frame.columns.items():
            if not self._is_text(name):
                columns[write_name(name)] = pa.array(column)
                continue
            known = self._known(column)
            columns[write_name(name)] = self._texts(column, known)
            columns[write_name(name) + _RAW] = pa.array(column, mask=known)
        return pa.table(columns)

    def read(self, table: pa.Table) -> Frame:
        """What `write` made of rows."""
        columns: dict[Name, Array] = {}
        for text in table.column_names:
            if text.endswith(_RAW):
                continue
            name, column = read_name(text), table.column(text)
            if not self._is_text(name):
                columns[name] = np.array(column.to_numpy())
                continue
            raw = table.column(text + _RAW).combine_chunks()
            codes = self.pool.encode(column)
            there = raw.is_valid().to_numpy(zero_copy_only=False)
            columns[name] = np.where(there, raw.fill_null(0).to_numpy(), codes)
        return Frame(table.num_rows, columns)

    def hash(self, frame: Frame, order: Sequence[int]) -> Array:
        """A number for each row, equal where rows are equal in the values of some classes, now and
        later."""
        words = []
        for index in order:
            column = frame[value(index)]
            if self._is_text(value(index)):
                words.append(self._hash_texts(column))
            elif self.classes[index].grain:
                words.append(column.astype(np.int64))
            else:
                words.append(column.astype(np.float64))
        return hash_rows(words).view(np.uint64)

    def _is_text(self, name: Name) -> bool:
        return is_value(name) and self.classes[name[1]].kind is Kind.STRING

    def _known(self, codes: Array) -> Array:
        known: Array = (codes >= 0) & (codes < len(self.pool))
        return known

    def _texts(self, codes: Array, known: Array) -> pa.Array:
        """The texts of codes; NULL where there is none."""
        if not known.any():
            return pa.nulls(len(codes), TEXT)
        texts = self.pool.take(codes[known].astype(np.int64, copy=False))
        if known.all():
            return texts
        places = np.cumsum(known) - 1
        return texts.take(pa.array(places, mask=~known))

    def _hash_texts(self, codes: Array) -> Array:
        distinct, places = np.unique(codes, return_inverse=True)
        known = self._known(distinct)
        hashes = distinct.astype(np.int64)
        if known.any():
            hashes[known] = hash_texts(self._texts(distinct, known).filter(pa.array(known))).view(
                np.int64
            )
        return hashes[places.reshape(-1)]
