"""Texts as numbers in their order: the least of many is found as of numbers."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontoweir.runtime.pool.order_texts import order_texts
from ontoweir.runtime.pool.text_columns import CODE
from ontoweir.runtime.pool.text_table import TEXT, TextTable

Column: TypeAlias = NDArray[Any]
"""Numbers; or texts, as objects of Python."""


def no_values(rows: int, kind: "np.dtype[np.generic]") -> Column:
    """So many values that say nothing: 0, or the empty text."""
    return np.full(rows, "", dtype=kind) if kind.hasobject else np.zeros(rows, dtype=kind)


def rank_texts(columns: Sequence[Column]) -> tuple[list[Column], Column | None]:
    """Numbers in the place of texts, in their order by code points, and the texts by number (None:
    they are numbers already).

    >>> rank_texts([np.array(["b", "a"], object), np.array(["c"], object)])[0]
    [array([1, 0]), array([2])]
    """
    if not any(column.dtype == object for column in columns):
        return list(columns), None
    whole = pa.chunked_array([pa.array(c, TEXT) for c in columns], TEXT)
    coded = whole.combine_chunks().dictionary_encode()
    order = order_texts(coded.dictionary)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    numbers = ranks[coded.indices.to_numpy(zero_copy_only=False)]
    texts: Column = coded.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
    ends = np.cumsum([len(column) for column in columns])
    return list(np.split(numbers, ends[:-1])), texts


def show_ranks(ranks: Column, texts: Column | None) -> Column:
    """The texts of numbers of rank_texts; of numbers that none has, any text."""
    if texts is None:
        return ranks
    if not len(texts):
        return no_values(len(ranks), texts.dtype)
    shown: Column = texts[np.clip(ranks.astype(np.int64), 0, len(texts) - 1)]
    return shown


def list_texts(column: "pa.ChunkedArray", texts: TextTable | None) -> Column:
    """A column of texts, or of their codes, as objects; where it is NULL, the empty text."""
    if column.type != CODE:
        found = column.combine_chunks().fill_null("")
    else:
        assert texts is not None
        found = texts.texts.take(column.combine_chunks()).fill_null("")
    listed: Column = found.to_numpy(zero_copy_only=False).astype(object)
    return listed
