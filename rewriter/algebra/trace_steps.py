"""What a pass did to a disjunct, for `ontoweir rewrite --show trace`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ontoweir.diagnostics import Reason
from ontoweir.rewriter.algebra.print_spj import show_condition, show_output
from ontoweir.rewriter.model.spj import Compare, Condition, Op, SpjQuery


@dataclass(frozen=True, slots=True)
class TraceStep:
    """Something a pass did: its name, to what (a disjunct's number, a predicate), and what.

    `excludes`: says why what it dropped has no rows (None: it dropped nothing).
    """

    name: str
    subject: str
    did: str
    excludes: Callable[[], Reason | None] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.subject}: {self.did}"


OnStep: TypeAlias = Callable[[TraceStep], None]
"""Takes the steps as they are done."""


def ignore_steps(step: TraceStep) -> None:
    """No trace wanted."""


def trace_steps(name: str, number: int, before: SpjQuery, after: SpjQuery) -> tuple[TraceStep, ...]:
    """The difference that a pass made to a disjunct: none, or one step in a sentence."""
    subject = f"disjunct {number}"
    if before == after:
        return ()
    if len(before.occurrences) == len(after.occurrences):
        pairs = zip(before.occurrences, after.occurrences, strict=True)
        names = [f"{a.alias} is {b.alias}" for a, b in pairs if a.alias != b.alias]
        if names:
            return (TraceStep(name, subject, ", ".join(names)),)
    said: list[str] = []
    aliases = {o.alias for o in after.occurrences}
    gone = [o for o in before.occurrences if o.alias not in aliases]
    if gone:
        joins = len(before.occurrences) - 1, len(after.occurrences) - 1
        tables = ", ".join(f"{o.table} {o.alias}" for o in gone)
        said.append(f"joins {joins[0]} → {joins[1]}, without {tables}")
    old, new = ({_show(c): None for c in q.conditions} for q in (before, after))
    more = [text for text in new if text not in old]
    less = [text for text in old if text not in new]
    if gone:
        less = [text for text in less if not any(f"{o.alias}." in text for o in gone)]
    if more:
        said.append("with " + ", ".join(more))
    if less:
        said.append("without " + ", ".join(less))
    for (variable, a), (_, b) in zip(before.outputs, after.outputs, strict=True):
        if a != b:
            said.append(f"?{variable} from {show_output(b)}")
    return (TraceStep(name, subject, "; ".join(said)),) if said else ()


def _show(condition: Condition) -> str:
    """A condition; equations in one orientation."""
    if isinstance(condition, Compare) and condition.op is Op.EQ and not condition.offset:
        sides = show_condition(condition).split(" = ", 1)
        return " = ".join(sorted(sides))
    return show_condition(condition)
