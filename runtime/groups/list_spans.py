"""Lists of texts of the rows that hold at moments."""

import numpy as np
import pyarrow as pa

from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.groups.list_values import join_texts
from ontoweir.runtime.pool.rank_texts import rank_texts
from ontoweir.runtime.pool.text_table import TEXT
from ontoweir.runtime.results.update_groups import AggregateValues


def list_spans(
    aggregate: Aggregate, spans: tuple[Array, Array, Array], texts: Array, moments: int
) -> AggregateValues:
    """The list at each of so many moments: texts in the order of their code points, each as often
    as it is counted, or once; NULL where no row holds.

    As many texts are put together as all lists have.

    Args:
        aggregate: the list.
        spans: of every row, the first moment at which it holds, the first one after, and how often.
        texts: of every row, as objects.
        moments: how many there are.
    """
    listing, (begin, end, weights) = aggregate.listing, spans
    assert listing is not None
    if not len(texts):
        nothing = np.zeros(moments, dtype=np.bool_)
        return AggregateValues(np.full(moments, "", object), nothing)
    (ranks,), ordered = rank_texts([texts])
    assert ordered is not None
    lengths = end - begin
    rows = np.repeat(np.arange(len(begin)), lengths)
    at = begin[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    sign = -1 if listing.falls else 1
    order = np.lexsort((sign * ranks[rows], at))
    rows, at = rows[order], at[order]
    if aggregate.function is AggregateFunction.LIST_DISTINCT:
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = (np.diff(at) != 0) | (np.diff(ranks[rows]) != 0)
        rows, at = rows[first], at[first]
        counts = np.ones(len(rows), dtype=np.int64)
    else:
        counts = weights[rows]
    chosen = pa.array(ordered, TEXT).take(pa.array(np.repeat(ranks[rows], counts)))
    sizes = np.bincount(at, weights=counts, minlength=moments).astype(np.int64)
    return join_texts(listing, chosen, sizes)
