"""Hold the state of a run to the bound of its verdict."""

from collections.abc import Sequence

from ontoweir.errors import RunError
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.turns.number_turns import place_of


def check_bound(work: ExecutionContext, state: ExecutionState) -> None:
    """Raise RunError if the state has more rows than its bound."""
    check_rows(work, state.rows, list_sizes(work, state))


def list_sizes(work: ExecutionContext, state: ExecutionState) -> list[str]:
    """What the state has rows of."""
    sizes = []
    for plan, kernel in zip(work.plans, state.kernels, strict=True):
        for table in plan.tables:
            held = kernel.stored.get(table.members)
            if held is not None:
                names = ", ".join(plan.form.members[i].alias for i in sorted(table.members))
                sizes.append(f"{{{names}}} {held.rows} of {table.bound.rows}")
        for number, one in plan.followed:
            held = kernel.stored.get(place_of(number))
            if held is not None:
                sizes.append(f"open {', '.join(one.rule.columns)} {held.rows} of {one.size}")
    if state.groups.rows:
        sizes.append(f"groups {state.groups.rows}")
    sizes += (
        f"remembered {', '.join(rule.columns)} {held.rows}"
        for rule, held in zip(work.rules, state.rules, strict=False)
        if held.rows
    )
    return sizes


def check_rows(work: ExecutionContext, rows: int, sizes: Sequence[str]) -> None:
    """Raise RunError if so many rows, of so many sizes, are more than the bound."""
    if work.bound is None or rows <= work.bound:
        return
    raise RunError(
        f"{work.name}: the state has {rows} rows, more than its bound of {work.bound} "
        f"({'; '.join(sizes)})",
        why="a bounded query never exceeds its bound: a declaration does not hold, or the plan "
        "is wrong",
        fix="check the declarations its verdict rests on; if they hold, report this",
    )
