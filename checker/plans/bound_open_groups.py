"""A bound on the groups that are not final yet, where a bucket of time closes them."""

from collections.abc import Iterable

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, Key
from ontoweir.checker.plans.bound_standing import least_bound
from ontoweir.checker.plans.bound_table import bound_keys
from ontoweir.checker.sizes.size_key import Factor
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket


def bound_open_groups(
    form: NormalForm, values: Iterable[int], bucket: TimeBucket, step_us: int
) -> Bound:
    """The least bound found on combinations of some classes' values in buckets that may still get
    matches: the buckets times the values; or the tuples of the bucket's member in them, which
    cover all that it holds.

    Args:
        form: a disjunct with a closing bucket.
        values: the classes that tell groups, or counted values, apart.
        bucket: the bucket; of buckets that overlap, their panes, each of which is kept until the
            last of its buckets is over.
        step_us: the unit of the streams' timestamps in µs.
    """
    assert form.query.closing is not None
    alias = form.query.closing.alias
    member = next(m.index for m in form.members if m.alias == alias)
    longest, shown = bucket.longest_us, "buckets" if bucket.sliding is None else "panes"
    steps = -(-longest // step_us) + wait_for_matches(form) + 1
    buckets = (
        steps
        if isinstance(bucket.buckets, Moments)
        else bucket.buckets.count_within(longest + wait_for_matches(form) * step_us)
    )
    rate, one = form.rates[member], form.members[member]
    tuples = Factor(
        None if rate is None else rate * one.timestamps(steps),
        f"R({one.alias}) · {one.timestamps(steps)} steps of buckets",
    )
    closing = form.class_of[form.query.closing]
    keys = [Key(v) for v in dict.fromkeys(values) if v != closing]
    held = {c.index for c in form.classes if member in c.members}
    choices = [
        bound_keys(form, keys, set(), [Factor(buckets, f"{buckets} {shown}")]),
        bound_keys(form, [k for k in keys if k.value not in held], held, [tuples]),
    ]
    return least_bound(choices)


def wait_for_matches(form: NormalForm) -> int:
    """For how many steps after a tuple of the bucket's member a match of it may be completed."""
    assert form.query.closing is not None
    alias = form.query.closing.alias
    member = next(m.index for m in form.members if m.alias == alias)
    steps = [0]
    for other, lag in enumerate(form.lag[member]):
        if other != member:
            assert lag is not None  # decide_lag saw to it
            steps.append(lag)
    return max(steps)
