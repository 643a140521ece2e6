"""Of two plans of a set query the one that keeps less: best values instead of all there are.

A value that is only compared with later ones is kept whole (clipped) where it is bounded, else as a
frontier: only the least or greatest one. For sets a frontier often is enough where the value is
bounded as well, and has one row where the domain has thousands (theory §7, §8; citations 16).
"""

from dataclasses import replace

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.model.normal_form import Inequality, NormalForm
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.checker.plans.make_table import Obstacle


def choose_plan(form: NormalForm) -> SynopsisPlan | tuple[Obstacle, ...]:
    """The plan of a satisfiable disjunct with the least bound found, or what prevents any.

    Sets only: all comparisons between bounded values are treated as comparisons of unbounded ones,
    then each alone; such a form must meet the lag criterion, or its fronts could grow.

    Raises:
        QueryError: a plan has too many steps.
    """
    best = make_plan(form)
    if not isinstance(best, SynopsisPlan) or not form.distinct or form.folds is not None:
        return best
    compared = [q for q in form.inequalities if _may_be_frontier(form, q)]
    choices = [compared, *([q] for q in compared)] if len(compared) > 1 else [compared]
    for chosen in choices if compared else ():
        other = _assume_unbounded(form, chosen)
        if not decide_lag(other).holds:
            continue
        plan = make_plan(other)
        if isinstance(plan, SynopsisPlan) and _rows(plan) < _rows(best):
            best = plan
    return best


def _rows(plan: SynopsisPlan) -> float:
    rows = plan.bound.rows
    return float("inf") if rows is None else rows


def _may_be_frontier(form: NormalForm, q: Inequality) -> bool:
    """Whether a value of the comparison is kept whole for it alone: neither is shown, or equal to
    something of another member."""
    sides = (form.classes[q.x], form.classes[q.y])
    return any(c.domain.finite and not c.projected and len(c.members) == 1 for c in sides)


def _assume_unbounded(form: NormalForm, chosen: list[Inequality]) -> NormalForm:
    """The form with these comparisons between values of unknown domains. What the domains say of
    the admitted tuples stays."""
    values = {v for q in chosen for v in (q.x, q.y)}
    classes = tuple(
        replace(c, domain=replace(c.domain, finite=False, size=None, formula="∞"))
        if c.index in values and not c.projected and len(c.members) == 1
        else c
        for c in form.classes
    )
    inequalities = tuple(replace(q, clips=False) if q in chosen else q for q in form.inequalities)
    return replace(form, classes=classes, inequalities=inequalities)
