"""A plan in words: the rows kept, why, how they grow, and their bound."""

from fractions import Fraction
from typing import assert_never

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import (
    Break,
    Constants,
    Frontier,
    Grid,
    Key,
    Points,
    StaticValues,
    SynopsisPlan,
    SynopsisTable,
)
from ontoweir.checker.verdict.find_pattern import find_node_pattern
from ontoweir.mappings.model.show_values import show_values


def describe_plan(plan: SynopsisPlan, *, patterns: bool = False) -> list[str]:
    """A plan as lines of text: what every synopsis holds, how it grows, and its bound; with their
    update patterns."""
    lines = [line for table in plan.tables for line in _table(plan, table, patterns=patterns)]
    for _, o in plan.followed:
        rows = "?" if o.size is None else f"{o.size:,}"
        named = ", ".join(o.rule.columns)
        lines.append(f"open {named} of {o.stream}: at most {rows} rows = {o.formula}")
    return lines


def _table(plan: SynopsisPlan, table: SynopsisTable, *, patterns: bool) -> list[str]:
    form = plan.form
    alias = {m.index: m.alias for m in form.members}
    whole = len(table.members) == len(form.members)
    names = ", ".join(alias[i] for i in sorted(table.members))
    holds = [form.classes[k.value].name + _reduced(k) for k in table.keys]
    holds += [f"{alias[k.member]}.t" for k in table.kept]
    folds = form.folds or ()
    sums = dict.fromkeys(form.classes[folds[place].value].name for place in table.sums)
    counts = ["present"] if form.distinct else ["count", *(f"sum of {name}" for name in sums)]
    value = ", ".join([_frontier(form, f) for f in table.frontier] or counts)
    title = "results" if whole else f"matches of {names}"
    title += f" ({find_node_pattern(form, table)})" if patterns else ""
    lines = []
    if table.stored:
        rows = "?" if table.bound.rows is None else f"{table.bound.rows:,}"
        stored = "remembered " if whole else ""
        lines.append(
            f"{stored}{title}: [{', '.join(holds)}] -> {value}; "
            f"at most {rows} rows = {table.bound.formula}"
        )
    else:
        lines.append(f"{title}: [{', '.join(holds)}], written at once")
    for step in table.steps:
        now = " and ".join(alias[i] for i in sorted(step.now))
        past = " × ".join("matches of " + ", ".join(alias[i] for i in sorted(p)) for p in step.past)
        lines.append(
            f"  when {now} arrive{'s' if len(step.now) == 1 else ''}"
            + (f": with {past}" if past else "")
        )
    if not table.stored:
        return lines
    for kept in table.kept:
        if kept.expire_after is not None:
            lines.append(f"  dropped {kept.expire_after} steps after {alias[kept.member]}.t")
        elif kept.forget_after is not None:
            lines.append(f"  time forgotten {kept.forget_after} steps after {alias[kept.member]}.t")
    if table.latest is not None:
        lines.append("  of rows that differ in their times alone the latest is kept")
    for match in table.matched:
        named = ", ".join(form.classes[v].name for v in match.values)
        lines.append(f"  dropped when {alias[match.child]} has come with the same {named}")
    for o in form.opened(table.members):
        named = ", ".join(form.classes[v].name for v in o.values)
        lines.append(f"  dropped when {named} is closed: no more rows of {o.stream} have it")
    return lines


def _frontier(form: NormalForm, frontier: Frontier) -> str:
    """The kept value: `least a`, `greatest a`, or `least max(a, -b)`."""
    names = [form.classes[t.value].name for t in frontier.terms]
    if len(names) == 1:
        return f"{'least' if frontier.terms[0].sign > 0 else 'greatest'} {names[0]}"
    signed = ("-" * (t.sign < 0) + name for t, name in zip(frontier.terms, names, strict=True))
    return f"least max({', '.join(signed)})"


def _reduced(key: Key) -> str:
    """The part of a value that is kept, if not all of it."""
    if key.breaks:
        return f" ranked among {', '.join(map(_break, key.breaks))}"
    if key.whole:
        return ""
    low, high = ("" if limit is None else limit for limit in (key.low, key.high))
    return f" clipped to {low}..{high}"


def _break(at: Break) -> str:
    match at:
        case Grid(first=first, last=last, step=step):
            return f"{first}..{last}" + (f" by {step}" if step != 1 else "")
        case Constants(values=values, shift=shift):
            return show_values(values) + _shifted(shift)
        case StaticValues(table=table, column=column, shift=shift):
            return f"{table}.{column}" + _shifted(shift)
        case Points(numbers=numbers):
            return f"{len(numbers)} values"
        case _:
            assert_never(at)


def _shifted(shift: int | Fraction) -> str:
    return f" {'+' if shift > 0 else '-'} {abs(shift)}" if shift else ""
