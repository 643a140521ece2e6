"""A run stops before a synopsis that is greater than its bound is committed."""

from collections.abc import Iterable

from ontoweir.checker.model.declarations import Declaration
from ontoweir.errors import RunError
from ontoweir.runtime.live.measure_state import SynopsisSize, measure_state
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import QueryState, RunningQuery


def check_bounds(query: RunningQuery, state: QueryState) -> None:
    """Compare every synopsis of a query, and all together, with what the checker promised.

    Raises:
        RunError: a synopsis, or the whole state, has more rows than its bound. Says which, and
            which declarations of its streams would explain it.
    """
    if _holds_all(query, state):
        return
    sizes = measure_state(query, state)
    over = [s for s in sizes if s.bound_rows is not None and s.rows > s.bound_rows]
    if not over and (query.bound is None or state.rows <= query.bound):
        return
    names = ", ".join(f"{s.name}: {s.rows} of {s.bound_rows}" for s in over or sizes)
    raise RunError(
        f"{query.name}: the state has {state.rows} rows, its bound is {query.bound} ({names})",
        why="a bounded query never exceeds its bound: a declaration does not hold, or the plan "
        f"is wrong. Its bound rests on {_suspects(query, over or sizes)}",
        fix="check these declarations against the data, correct them, and start with a new "
        "checkpoint; if they hold, report this",
    )


def _holds_all(query: RunningQuery, state: QueryState) -> bool:
    """Whether no synopsis of a query can have more rows than its bound, seen without looking at
    the rest that measure_state says; of groups, and of rows that are divided, it is not known."""
    if isinstance(state, DividedState) or query.factors or query.bound is None:
        return False
    if query.work.aggregates is not None or query.feed is not None or state.rows > query.bound:
        return False
    for prepared, kernel in zip(query.plans, state.kernels, strict=True):
        for table in prepared.plan.tables:
            held = kernel.stored.get(table.members) if table.stored else None
            most = table.bound.rows
            if held is not None and most is not None and held.rows > most:
                return False
    return True


def _suspects(query: RunningQuery, over: Iterable[SynopsisSize]) -> str:
    """The declarations of the streams that the synopses are made of."""
    aliases = {alias for size in over for alias in size.members}
    streams = {
        m.stream
        for prepared in query.plans
        for m in prepared.plan.form.members
        if m.alias in aliases or not aliases
    }
    catalog = query.work.catalog
    suspects: list[str] = [_place(d) for d in query.declarations if d.table in streams]
    for name in sorted(streams):
        limit = catalog.streams[name].max_per_timestamp
        if limit is not None:
            suspects.append(f"max_per_timestamp = {limit} of {name}")
    formulas = ", ".join(dict.fromkeys(size.formula for size in over))
    return f"{'; '.join(suspects) or 'no declaration'} (formula: {formulas})"


def _place(declared: Declaration) -> str:
    return declared.text if declared.source is None else f"{declared.text} ({declared.source})"
