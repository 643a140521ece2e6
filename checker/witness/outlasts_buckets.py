"""Whether a witness stands where buckets of time, which a large one outlasts, are over."""

from dataclasses import replace

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.witness.confirm.confirm_witness import confirm_witness
from ontoweir.checker.witness.layout.construct_witness import construct_witness
from ontoweir.checker.witness.layout.copies import Spread
from ontoweir.checker.witness.layout.plan_layouts import Layout
from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.spj import SpjUnion


def outlasts_buckets(
    form: NormalForm,
    union: SpjUnion,
    catalog: Catalog,
    layout: Layout,
    spread: Spread,
    witness: Witness,
) -> bool:
    """Whether the rows of a witness are told apart also where each timestamp is of another bucket.

    A few rows of one hour may come one second after the other, and be told apart by later rows of
    that hour, but not ten thousand. So with steps longer than the buckets the same rows are to be
    told apart. (What else is computed of the time: `watch_clock.py`.)

    Args:
        form: the disjunct.
        union: the query that the witness is confirmed against.
        catalog: with its buckets.
        layout: of the witness.
        spread: which values are kept apart.
        witness: what is confirmed with the steps that are declared.
    """
    lengths = [
        column.bucket.longest_us
        for stream in catalog.streams.values()
        for column in stream.columns
        if column.bucket is not None and not isinstance(column.bucket.buckets, Moments)
    ]
    if not lengths or union.ends or (union.aggregation and find_closing(union, catalog)):
        return True
    slow = _lengthen(catalog, 2 * max(lengths))
    try:
        made = construct_witness(form, slow, layout, witness.size, spread)
    except OverflowError:  # a time beyond the year 9999
        return False
    return made is not None and confirm_witness(union, slow, made[0], by_median=layout.ranked)


def _lengthen(catalog: Catalog, step_us: int) -> Catalog:
    """The catalog with steps of another length; what else depends on it was held to before."""

    def lengthen(stream: Stream) -> Stream:
        return replace(
            stream,
            step_us=step_us,
            unit_us=None,
            start_us=None,
            lags=(),
            closing=(),
            window_us=None,
        )

    streams = {name: lengthen(stream) for name, stream in catalog.streams.items()}
    return replace(catalog, streams=streams)
