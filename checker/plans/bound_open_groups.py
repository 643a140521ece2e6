"""A bound on the groups that are not final yet, where a bucket of time closes them."""

from collections.abc import Iterable

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, Key
from ontoweir.checker.plans.bound_standing import least_bound
from ontoweir.checker.plans.bound_table import bound_keys
from ontoweir.checker.sizes.size_key import Factor
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.time_bucket import Moments, MonthsLater, TimeBucket
from ontoweir.rewriter.buckets.make_column import ENDS, is_growing
from ontoweir.rewriter.model.spj import Attribute


def bound_open_groups(
    form: NormalForm, values: Iterable[int], bucket: TimeBucket, step_us: int, wait_us: int
) -> Bound:
    """The least bound found on combinations of some classes' values in buckets that may still get
    matches: the buckets times the values; or the tuples of the bucket's member in them, which
    cover all that it holds; those of another one, which come near them, or both.

    Args:
        form: a disjunct with a closing bucket.
        values: the classes that tell groups, or counted values, apart.
        bucket: the bucket; of buckets that overlap, their panes, each of which is kept until the
            last of its buckets is over.
        step_us: the unit of the streams' timestamps in µs.
        wait_us: for how long after the bucket's last tuple groups are kept: as long as any
            disjunct's matches may come (`wait_of_groups`).
    """
    assert form.query.closing is not None
    alias = form.query.closing.alias
    member = next(m.index for m in form.members if m.alias == alias)
    longest, shown = bucket.longest_us, "buckets" if bucket.sliding is None else "panes"
    steps = -(-(longest + wait_us) // step_us) + 1
    buckets = (
        steps
        if isinstance(bucket.buckets, (Moments, MonthsLater))
        else bucket.buckets.count_within(longest + wait_us)
    )
    told = _both_ends(form, form.query.closing)
    keys = [Key(v) for v in dict.fromkeys(values) if v not in told]
    few = Factor(buckets, f"{buckets} {shown}")
    own = _tuples(form, member, steps)
    choices = [([few], set[int]()), ([own], _held(form, member))]
    for other in range(len(form.members)):
        after, before = form.lag[member][other], form.lag[other][member]
        if other != member and after is not None and before is not None:
            factor, held = _tuples(form, other, steps + after + before), _held(form, other)
            choices += [([few, factor], held), ([own, factor], held | _held(form, member))]
    return least_bound(
        [
            bound_keys(form, [k for k in keys if k.value not in held], held, factors)
            for factors, held in choices
        ]
    )


def _both_ends(form: NormalForm, closing: Attribute) -> set[int]:
    """The classes of where a bucket begins and where it ends, of which one tells the other, but of
    those that grow."""
    start = closing.column.removeprefix(ENDS)
    names = [closing.column] if is_growing(start) else [start, f"{ENDS}{start}"]
    ends = (Attribute(closing.alias, name) for name in names)
    return {form.class_of[a] for a in ends if a in form.class_of}


def _tuples(form: NormalForm, member: int, steps: int) -> Factor:
    """The tuples of a member in so many steps."""
    rate, one = form.rates[member], form.members[member]
    return Factor(
        None if rate is None else rate * one.timestamps(steps),
        f"R({one.alias}) · {one.timestamps(steps)} steps of buckets",
    )


def _held(form: NormalForm, member: int) -> set[int]:
    """The classes whose values a member's tuple has."""
    return {c.index for c in form.classes if member in c.members}


def wait_of_groups(forms: Iterable[NormalForm], step_us: int, catalog: Catalog) -> int:
    """How long after the end of a bucket the groups of a query are final, in µs: when none of its
    disjuncts may still have a match in it.

    Args:
        forms: the disjuncts, those without a closing bucket too, which do not count.
        step_us: the unit of the streams' timestamps in µs.
        catalog: with its views and buckets.
    """
    closed = [form for form in forms if form.query.closing is not None]
    waits = (behind_bucket(f, catalog) + _wait_after(f, catalog) * step_us for f in closed)
    return max(waits, default=0)


def _wait_after(form: NormalForm, catalog: Catalog) -> int:
    """For how many steps after the last tuple of a bucket a match in it may be completed: those
    that are in the same bucket by an equation have come by then."""
    closing = form.query.closing
    assert closing is not None
    streams = {m.alias: catalog.streams[m.stream] for m in form.members}

    def bucket_of(attribute: Attribute) -> TimeBucket | None:
        stream = streams.get(attribute.alias)
        column = None if stream is None else stream.column(attribute.column)
        return None if column is None else column.bucket

    bucket = bucket_of(closing)
    equal = {closing.alias}
    if bucket is not None and bucket.sliding is None:
        found = dict(form.classes[form.class_of[closing]].attributes)
        same = [a for a, shift in found.items() if shift == found[closing]]
        equal |= {a.alias for a in same if bucket_of(a) == bucket}
    inside = [m.index for m in form.members if m.alias in equal]
    steps = [0]
    for other in range(len(form.members)):
        lags = (form.wait_of_groups(near, other) for near in inside)
        if other not in inside:
            steps.append(min(lag for lag in lags if lag is not None))
    return max(steps)


def behind_bucket(form: NormalForm, catalog: Catalog) -> int:
    """How long before its tuple the time is that lies in a disjunct's bucket, in µs."""
    closing = form.query.closing
    assert closing is not None
    stream = next(m.stream for m in form.members if m.alias == closing.alias)
    column = catalog.streams[stream].column(closing.column)
    return 0 if column is None or column.bucket is None else column.bucket.behind_us


def wait_for_matches(form: NormalForm) -> int:
    """For how many steps after a tuple of the bucket's member a match of it may be completed."""
    assert form.query.closing is not None
    alias = form.query.closing.alias
    member = next(m.index for m in form.members if m.alias == alias)
    steps = [0]
    for other in range(len(form.members)):
        if other != member:
            lag = form.wait_of_groups(member, other)
            assert lag is not None  # decide_lag saw to it
            steps.append(lag)
    return max(steps)
