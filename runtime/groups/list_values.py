"""Lists of texts of groups: which texts are counted, by codes, and what they make."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction, Listing
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.pool.order_texts import order_texts
from ontoweir.runtime.pool.text_columns import code_columns, read_codes
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.group_state import GroupState, Histogram
from ontoweir.runtime.results.measures import TEXTS, Measure, MeasureKind
from ontoweir.runtime.results.update_groups import AggregateValues


def code_lists(
    part: AggregatePart, rows: Sequence[pa.Table], texts: TextTable
) -> dict[Measure, Array]:
    """The codes of the texts that a part lists, in its rows one table after the other; nothing
    where it lists none."""
    first = part.aggregates[0]
    if not first.function.lists:
        return {}
    coded = [code_columns(table.select([first.argument]), texts) for table in rows]
    codes = [read_codes(table.column(0)) for table in coded]
    return {(MeasureKind.HISTOGRAM, first.argument, TEXTS): np.concatenate(codes)}


def list_values(
    aggregates: Sequence[Aggregate], state: GroupState, places: Array
) -> dict[str, AggregateValues]:
    """The lists of the groups at some places, in order, by the names of aggregates: texts in the
    order of their code points, each as often as it is counted, or once; NULL where there is none.
    """
    shown = {}
    for aggregate in aggregates:
        if not aggregate.function.lists:
            continue
        counted = state.histograms.get((MeasureKind.HISTOGRAM, aggregate.argument, TEXTS))
        if counted is None:
            none = np.zeros(len(places), dtype=np.bool_)
            shown[aggregate.name] = AggregateValues(np.full(len(places), "", object), none)
        else:
            shown[aggregate.name] = _list(aggregate, counted, state, places)
    return shown


def _list(
    aggregate: Aggregate, counted: Histogram, state: GroupState, places: Array
) -> AggregateValues:
    assert aggregate.listing is not None
    codes, inverse = np.unique(counted.values, return_inverse=True)
    texts = state.texts.take(codes)
    order = order_texts(texts)
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes))
    sign = -1 if aggregate.listing.falls else 1
    rows = np.lexsort((sign * ranks[inverse], counted.groups))
    groups, counts = counted.groups[rows], counted.counts[rows]
    if aggregate.function is AggregateFunction.LIST_DISTINCT:
        counts = np.minimum(counts, 1)
    chosen = texts.take(pa.array(np.repeat(inverse[rows], counts)))
    sizes = np.bincount(groups, weights=counts, minlength=state.count).astype(np.int64)
    return join_texts(aggregate.listing, chosen, sizes).take(places)


def join_texts(listing: Listing, chosen: pa.Array, sizes: Array) -> AggregateValues:
    """The texts of groups, one group after the other, as a list for each; NULL where a group has
    none."""
    if listing.unseen:
        chosen = pc.utf8_slice_codeunits(chosen, listing.unseen)
    offsets = pa.array(np.append(0, np.cumsum(sizes)))
    lists = pa.LargeListArray.from_arrays(offsets, chosen)
    joined = pc.binary_join(lists, pa.scalar(listing.separator, chosen.type))
    return AggregateValues(joined.to_numpy(zero_copy_only=False), sizes > 0)
