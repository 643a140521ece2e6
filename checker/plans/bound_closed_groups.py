"""A bound on the values that are open, and on their groups, where a rule closes values."""

from collections.abc import Iterable
from dataclasses import replace

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import Bound, Key
from ontoweir.checker.plans.bound_standing import least_bound
from ontoweir.checker.plans.bound_table import bound_groups, bound_keys
from ontoweir.checker.sizes.count_open import count_open
from ontoweir.checker.sizes.size_key import Factor
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import ClosedValues


def bound_closed_groups(
    form: NormalForm, values: Iterable[int], wait: int, catalog: Catalog
) -> Bound:
    """The least bound found on combinations of some classes' values while the value that closes
    them is open, or a match of it may come.

    Args:
        form: a disjunct whose groups are closed by a rule.
        values: the classes that tell groups, or counted values, apart.
        wait: for how many steps groups are kept: as long as any disjunct's matches may come.
        catalog: the declarations.
    """
    closed = form.query.closed
    assert closed is not None
    distinct, rule = list(dict.fromkeys(values)), closed.rule
    choices: list[tuple[set[int], Factor]] = []
    if rule.span_us is not None:  # the rows of open values are few, too
        near = next(m.index for m in form.members if m.alias == closed.alias)
        given = {c.index for c in form.classes if near in c.members}
        plain = replace(closed, rule=replace(rule, width_us=None))
        choices.append((given, _count_open(plain, wait, catalog, form)))
    if rule.span_us is None or rule.width_us is not None:
        factor = _count_open(closed, wait, catalog, form if rule.session else None)
        choices.append((form.closed_classes, factor))
        if rule.most_rows is not None:  # or so few
            choices.append((form.of_alias(closed.alias), _count_rows(factor, rule.most_rows)))
    bounds = [
        bound_keys(form, [Key(v) for v in distinct if v not in told], told, [factor])
        for told, factor in choices
    ]
    return least_bound([*bounds, bound_groups(form, distinct)])


def _count_rows(values: Factor, most: int) -> Factor:
    """The rows of open values."""
    size = None if values.size is None else values.size * most
    return Factor(size, f"({values.formula}) · {most} rows")


def bound_open_values(closed: ClosedValues, wait: int, catalog: Catalog) -> Bound:
    """The values of a rule that are open, or of which a match may come for so many more steps."""
    factor = _count_open(closed, wait, catalog)
    return Bound(factor.size, factor.formula)


def _count_open(
    closed: ClosedValues, wait: int, catalog: Catalog, form: NormalForm | None = None
) -> Factor:
    """V: what the rule leaves open after a finished step, and what has come in the steps for which
    matches are waited for; `form`: rows are counted with what is folded into them there."""
    stream, rate = catalog.streams[closed.stream], None
    if form is not None:
        near = next(m.index for m in form.members if m.alias == closed.alias)
        rate = Factor(form.rates[near], f"R({stream.name})")
        if rate.size != stream.max_per_timestamp:
            rate = Factor(rate.size, f"{rate.formula}, joined")
    return count_open(stream, closed.rule, wait, rate)
