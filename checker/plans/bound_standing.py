"""A bound on the answers of windows that hold at one time, which are kept to say when they end."""

from collections.abc import Sequence

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, KeptTimestamp, Key
from ontoweir.checker.plans.bound_table import bound_keys, bound_table
from ontoweir.checker.sizes.size_key import Factor
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.model.spj import output_attributes


def bound_standing(
    form: NormalForm,
    ends: Sequence[str],
    catalog: Catalog,
    *,
    distinct: bool,
    among: Sequence[str] | None = None,
    paired: bool = False,
) -> Bound:
    """The least bound found on different answers that hold, with when they end.

    Args:
        form: a disjunct.
        ends: its variables that say when rows leave their windows.
        catalog: with its views and buckets.
        distinct: an answer holds once, until the last of its ends.
        among: the variables in which answers differ (None: all but `ends`).
        paired: when answers begin, of the same rows, tells them apart too.
    """
    outputs = dict(form.query.outputs)
    index = {m.alias: m.index for m in form.members}
    shown: dict[int, int] = {}
    lengths: set[tuple[int, int]] = set()
    gridded = False
    for name in ends:
        for attribute in output_attributes(outputs[name]):
            member = form.members[index[attribute.alias]]
            stream = catalog.streams[member.stream]
            column = stream.column(attribute.column)
            assert column is not None
            assert column.bucket is not None
            if column.bucket.is_never:  # what never ends is told apart by no end
                continue
            after = column.bucket.latest_us
            lengths.add((after, stream.step_us))
            gridded |= not isinstance(column.bucket.buckets, Moments)
            steps = -(-after // stream.step_us)
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
    values = {
        form.class_of[a]
        for n, o in form.query.outputs
        if among is None or n in among
        for a in output_attributes(o)
    }
    keys = [Key(v) for v in sorted(values - hidden if among is None else values)]
    kept = [] if distinct else [KeptTimestamp(i, s, None) for i, s in sorted(shown.items())]
    members = frozenset(m.index for m in form.members)
    whole = bound_table(form, members, keys, kept, (), waits)
    if distinct or gridded or paired or len(shown) < 2:
        return whole
    # of an answer only the first end is kept, which lies within the shortest window
    shortest = min(after for after, _ in lengths)
    first = sum(-(-shortest // step) for _, step in {(a % step, step) for a, step in lengths})
    times = Factor(first, f"{first} steps")
    return least_bound((whole, bound_keys(form, keys, set(), [times])))


def least_bound(bounds: Sequence[Bound]) -> Bound:
    """The best of several bounds on the same rows."""
    return min(bounds, key=lambda b: (b.rows is None, "∞" in b.formula, b.rows or 0))
