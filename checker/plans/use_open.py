"""A disjunct by the rules that close values, where it has no plan without them."""

from collections.abc import Callable

from ontoweir.checker.criteria.decide_lag import decide_lag
from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.normalise.find_open import find_open
from ontoweir.checker.plans.make_plan import make_plan
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog


def is_bounded(form: NormalForm) -> bool:
    """Whether a satisfiable disjunct has a plan."""
    try:
        plan = make_plan(form, sized=False) if decide_lag(form).holds else ()
        return isinstance(plan, SynopsisPlan)
    except QueryError:  # too large a plan: who decides the query reports it
        return False


def use_open(
    form: NormalForm, catalog: Catalog, use: Callable[[Declaration], bool] = lambda _: True
) -> NormalForm:
    """The form with what rules that close values say of its joins, if it has no plan without that,
    and has one with it; else as it is.

    Args:
        form: a disjunct.
        catalog: the streams.
        use: which declarations may be used.
    """
    if not form.satisfiable or all(not catalog.streams[m.stream].closing for m in form.members):
        return form
    opened = find_open(form, catalog, use)
    if opened is form or is_bounded(form) or not is_bounded(opened):
        return form
    return opened
