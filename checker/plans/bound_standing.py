"""A bound on the answers of windows that hold at one time, which are kept to say when they end."""

from collections.abc import Sequence

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, KeptTimestamp, Key
from ontoweir.checker.plans.bound_table import bound_table
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.model.spj import output_attributes


def bound_standing(
    form: NormalForm, ends: Sequence[str], catalog: Catalog, *, distinct: bool
) -> Bound:
    """The least bound found on different answers that hold, with when they end.

    Args:
        form: a disjunct.
        ends: its variables that say when rows leave their windows.
        catalog: with its views and buckets.
        distinct: an answer holds once, until the last of its ends.
    """
    outputs = dict(form.query.outputs)
    index = {m.alias: m.index for m in form.members}
    shown: dict[int, int] = {}
    for name in ends:
        for attribute in output_attributes(outputs[name]):
            member = form.members[index[attribute.alias]]
            stream = catalog.streams[member.stream]
            column = stream.column(attribute.column)
            assert column is not None
            assert column.bucket is not None
            assert isinstance(column.bucket.buckets, Moments)
            steps = -(-column.bucket.buckets.after_us // stream.step_us)
            shown[member.index] = min(steps, shown.get(member.index, steps))
    waits: dict[int, int | None] = {}
    for m in form.members:
        reach = [
            steps + lag for i, steps in shown.items() if (lag := form.lag[m.index][i]) is not None
        ]
        if m.index in shown:
            reach.append(shown[m.index])
        if reach:
            waits[m.index] = min(reach)
    hidden = {form.class_of[a] for n in ends for a in output_attributes(outputs[n])}
    values = {form.class_of[a] for n, o in form.query.outputs for a in output_attributes(o)}
    keys = [Key(v) for v in sorted(values - hidden)]
    kept = [] if distinct else [KeptTimestamp(i, s, None) for i, s in sorted(shown.items())]
    members = frozenset(m.index for m in form.members)
    return bound_table(form, members, keys, kept, (), waits)
