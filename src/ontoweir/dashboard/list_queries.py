"""The overview: every query of the project or the registry, its verdict, and how it runs."""

from collections.abc import Mapping
from typing import Any

from ontoweir.dashboard.check_queries import Checks
from ontoweir.dashboard.describe_run import describe_run
from ontoweir.dashboard.read_runs import Run
from ontoweir.errors import OntoweirError
from ontoweir.pipeline.refused_query import REFUSED


def list_queries(
    checks: Checks, runs: Mapping[str, Run]
) -> tuple[list[dict[str, Any]], str | None]:
    """One record a query, what runs first; and what is wrong with the project.

    A record's `verdict` is None while it is not yet decided.
    """
    checks.start()
    names: tuple[str, ...] = ()
    problem = None
    try:
        names = checks.names()
    except OntoweirError as error:
        problem = str(error)
    ordered = [*runs, *(n for n in names if n not in runs)]
    return [_record(name, checks, runs.get(name), name in names) for name in ordered], problem


def _record(name: str, checks: Checks, run: Run | None, mine: bool) -> dict[str, Any]:
    decided: dict[str, Any] = {"verdict": None, "tier": None, "bound": None, "problem": None}
    entry = None if run is None else run.entry
    outcome = checks.verdicts.get(name)
    if entry is not None:
        decided |= _registered(entry)
    elif mine and outcome is not None and outcome.summary is not None:
        decided |= {k: outcome.summary[k] for k in ("verdict", "tier", "bound")}
    elif mine and outcome is not None:
        decided |= {"verdict": REFUSED, "tier": REFUSED, "problem": outcome.error}
    return {"query": name, **decided, **describe_run(run)}


def _registered(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What was decided at registration."""
    description: dict[str, Any] = {
        k: v for k in ("verdict", "tier") if isinstance(v := entry.get(k), str)
    }
    rows, formula = entry.get("bound_rows"), entry.get("bound_formula")
    if isinstance(rows, bool) or not isinstance(rows, int) or not isinstance(formula, str):
        return description
    return description | {"bound": {"rows": rows, "formula": formula}}
