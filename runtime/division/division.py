"""Which part a row is in: by a hash of the column that divides its stream."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import DecimalType, Stream, StringType
from ontoweir.runtime.columnar.encode import as_texts, encode_column
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.hash_texts import hash_texts
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.pool.text_table import TEXT

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SEED = 7
_VERSION = 1
"""Of how values are hashed: states that were divided otherwise are not gone on from."""


@dataclass(frozen=True, slots=True)
class Division:
    """How rows are divided among `parts` (two or more), numbered from 0.

    `columns`: of a stream the column that divides it; rows of `whole` streams are in every part,
    those of others in any one. `scale`: the most digits behind the point of a column of `columns`.
    """

    parts: int
    columns: Mapping[str, str]
    whole: frozenset[str]
    scale: int = 0

    @property
    def identity(self) -> str:
        """What decides where rows are, in the files of a run that goes on later."""
        columns, whole = sorted(self.columns.items()), sorted(self.whole)
        return f"{_VERSION} {self.parts} {columns} {whole} {self.scale}"

    def place(self, stream: Stream, values: "pa.ChunkedArray") -> Array:
        """The part of every row, by its values in the column that divides the stream: equal ones
        are in one part, whatever their types; rows without a value are in the first.

        Raises:
            DataError: the values are of another type than declared.
        """
        if len(values) == 0 or pa.types.is_null(values.type):
            return np.zeros(len(values), dtype=np.uint64)
        column = stream.column(self.columns[stream.name])
        assert column is not None
        name = f"{stream.name}.{column.name}"
        if isinstance(column.type, StringType):
            return self._spread(_hash_column(as_texts(values, name)), _absent(values))
        digits = column.type.scale if isinstance(column.type, DecimalType) else 0
        encoded = encode_column(values, column.type, 10**digits, StringPool(), name)
        numbers: Array = encoded.values.astype(np.int64, copy=False).view(np.uint64)
        if digits < self.scale:  # as with the point of all; what overflows does so for equal ones
            numbers = numbers * np.uint64(10 ** (self.scale - digits))
        return self._spread(numbers, None if values.null_count == 0 else ~encoded.valid)

    def _spread(self, numbers: Array, absent: Array | None) -> Array:
        """Numbers of 64 bits as parts, by the first bits of a multiple (Fibonacci hashing)."""
        mixed: Array = numbers * _MULTIPLIER
        bits = self.parts.bit_length() - 1
        if self.parts == 1 << bits:
            mixed >>= np.uint64(64 - bits)
        else:
            mixed >>= np.uint64(32)
            mixed *= np.uint64(self.parts)
            mixed >>= np.uint64(32)
        if absent is not None:
            mixed[absent] = 0
        return mixed


def _absent(values: "pa.ChunkedArray") -> Array | None:
    """Which values are NULL (None: none is)."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.is_null().to_numpy() if values.null_count else None


def _hash_column(texts: "pa.Array | pa.ChunkedArray") -> Array:
    """Hashes of texts; of a dictionary those of its texts are made once."""
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    found = []
    for chunk in chunks:
        if not pa.types.is_dictionary(chunk.type):
            found.append(hash_texts(chunk.cast(TEXT), _SEED, whole=True))
            continue
        known = hash_texts(chunk.dictionary.cast(TEXT), _SEED, whole=True)
        codes = chunk.indices.fill_null(0).to_numpy(zero_copy_only=False)
        found.append(known[codes] if len(known) else np.zeros(len(chunk), dtype=np.uint64))
    return np.concatenate(found)
