"""A bound on the answers that wait until it is final that nothing is beside them, or something."""

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, Key
from ontoweir.checker.plans.bound_table import bound_table
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Absence, LiteralOutput, output_attributes


def bound_waiting(form: NormalForm, absence: Absence, catalog: Catalog) -> Bound:
    """The least bound found on the different answers of a disjunct that wait.

    An answer with the time t of a member waits no longer than until the latest of all members'
    times, which is within the member's greatest lag, and the latest deadline, which is a distance
    after t where the deadline is of this time, or of that of a member that comes within a lag.

    Args:
        form: the disjunct.
        absence: what is to be beside its answers, or not.
        catalog: with its views and buckets.
    """
    outputs, index = dict(form.query.outputs), {m.alias: m.index for m in form.members}
    after: list[dict[int, int]] = []
    for deadline in (d for part in absence.parts for d in part.deadlines):
        steps: dict[int, int] = {}
        for name, us in deadline.after:
            output = outputs[name]
            assert isinstance(output, LiteralOutput)
            member = index[output.value.alias]
            steps[member] = us // catalog.streams[form.members[member].stream].step_us
        if not any(step <= 0 for step in steps.values()):
            after.append(steps)
    if not after:
        return Bound(0, "0")
    waits: dict[int, int | None] = {}
    for m in form.members:
        lags = [form.lag[m.index][j] for j in range(len(form.members)) if j != m.index]
        ends = [*lags, *(_wait(form, m.index, steps) for steps in after)]
        known = [end for end in ends if end is not None]
        if len(known) == len(ends):
            waits[m.index] = max(known)
    shown = {form.class_of[a] for _, o in form.query.outputs for a in output_attributes(o)}
    members = frozenset(m.index for m in form.members)
    return bound_table(form, members, [Key(v) for v in sorted(shown)], (), (), waits)


def _wait(form: NormalForm, member: int, steps: dict[int, int]) -> int | None:
    """How long after a member's time a deadline is at most: the earliest of the times of members
    and so many steps after each (None: any time)."""
    known = [
        lag + late
        for other, late in steps.items()
        if (lag := 0 if other == member else form.lag[member][other]) is not None
    ]
    return max(0, min(known)) if known else None
