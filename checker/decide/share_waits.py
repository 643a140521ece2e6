"""Answers of several disjuncts that show a time are remembered equally long: each may find what
another has found."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import KeptTimestamp, SynopsisPlan
from ontoweir.checker.plans.bound_table import bound_table
from ontoweir.checker.plans.make_table import told_by_time
from ontoweir.checker.verdict.verdict import Bounded, DisjunctVerdict
from ontoweir.mappings.model.catalog import Catalog


def share_waits(
    decided: Sequence[DisjunctVerdict], catalog: Catalog
) -> tuple[DisjunctVerdict, ...]:
    """The verdicts on the disjuncts of a set query; if their answers are forgotten by a time that
    they show, only when none of the plans can find them any more."""
    plans = [d.plan for d in decided if isinstance(d, Bounded)]
    kept = [p.tables[-1].kept for p in plans if p.form.distinct]
    if len(plans) < 2 or len(kept) < len(plans) or not all(kept):
        return tuple(decided)
    steps = [_step_us(p.form, catalog) for p in plans]
    longest = max((k[0].expire_after or 0) * step for k, step in zip(kept, steps, strict=True))
    return tuple(
        replace(d, plan=_wait(d.plan, -(-longest // _step_us(d.plan.form, catalog))))
        if isinstance(d, Bounded)
        else d
        for d in decided
    )


def _wait(plan: SynopsisPlan, steps: int) -> SynopsisPlan:
    form, last = plan.form, plan.tables[-1]
    near = last.kept[0].member
    kept = (KeptTimestamp(near, expire_after=steps, forget_after=None),)
    back = {i: form.lag[i][near] for i in range(len(form.members))}
    waits: dict[int, int | None] = {i: steps + lag for i, lag in back.items() if lag is not None}
    keys = told_by_time(form, last.keys)
    bound = bound_table(form, last.members, keys, kept, last.frontier, waits, last.samples)
    return replace(plan, tables=(*plan.tables[:-1], replace(last, kept=kept, bound=bound)))


def _step_us(form: NormalForm, catalog: Catalog) -> int:
    return catalog.streams[form.members[0].stream].step_us
