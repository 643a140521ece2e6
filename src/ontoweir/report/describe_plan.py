"""A plan in words: what is kept, for whom, how it grows, and how much that is."""

from typing import assert_never

from ontoweir.checker.model.plan import (
    Break,
    Constants,
    Grid,
    Key,
    Points,
    StaticValues,
    SynopsisPlan,
    SynopsisTable,
)


def describe_plan(plan: SynopsisPlan) -> list[str]:
    """A plan as lines of text: what every synopsis holds, how it grows, and its bound."""
    return [line for table in plan.tables for line in _table(plan, table)]


def _table(plan: SynopsisPlan, table: SynopsisTable) -> list[str]:
    form = plan.form
    alias = {m.index: m.alias for m in form.members}
    whole = len(table.members) == len(form.members)
    names = ", ".join(alias[i] for i in sorted(table.members))
    holds = [form.classes[k.value].name + _reduced(k) for k in table.keys]
    holds += [f"{alias[k.member]}.t" for k in table.kept]
    value = "present" if form.distinct else "count"
    if table.frontier:
        value = ", ".join(
            _frontier([("-" if t.sign < 0 else "") + form.classes[t.value].name for t in f.terms])
            for f in table.frontier
        )
    title = "results" if whole else f"matches of {names}"
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
    return lines + [
        f"  dropped {kept.expire_after} steps after {alias[kept.member]}.t"
        for kept in table.kept
        if kept.expire_after is not None and table.stored
    ]


def _frontier(terms: list[str]) -> str:
    """What is minimised: `least a`, or `least max(a, -b)`."""
    return f"least {terms[0]}" if len(terms) == 1 else f"least max({', '.join(terms)})"


def _reduced(key: Key) -> str:
    """What of a value is kept, if not all."""
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
            return "{" + ", ".join(map(str, values)) + "}" + (f" + {shift}" if shift else "")
        case StaticValues(table=table, column=column, shift=shift):
            return f"{table}.{column}" + (f" + {shift}" if shift else "")
        case Points(numbers=numbers):
            return f"{len(numbers)} values"
        case _:
            assert_never(at)
