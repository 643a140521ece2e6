"""What `check` prints of a query: made where the query was decided, printed when all are."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.commands.decide_queries import Outcome
from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.refused_query import REFUSED, RefusedQuery, describe_refused


@dataclass(frozen=True, slots=True)
class Told:
    """The name of a verdict ("bounded" …), its tier, and what is printed: text or JSON; of a
    refused query why it is."""

    name: str
    tier: Tier | None
    shown: Any
    error: OntoweirError | None = None


Tell: TypeAlias = Callable[[Outcome], Told]


def tell_json(catalog: Catalog) -> Tell:
    """Verdicts as JSON describes them."""
    from ontoweir.report.describe import describe_verdict

    def tell(found: Outcome) -> Told:
        if isinstance(found, RefusedQuery):
            return Told(REFUSED, None, describe_refused(found), found.error)
        shown = describe_verdict(found.verdict, catalog, found.repairs)
        return Told(found.verdict.name, found.verdict.tier, shown)

    return tell


def tell_text(catalog: Catalog, names: Sequence[str], *, verbose: bool) -> Tell:
    """Verdicts as text for people, coloured on a terminal; `names`: of all queries."""
    from rich.console import Console

    from ontoweir.report.render_check import render_refused, render_verdict

    console, width = Console(highlight=False), max(map(len, names), default=0)

    def tell(found: Outcome) -> Told:
        if isinstance(found, RefusedQuery):
            with console.capture() as captured:
                render_refused(found, console, width=width)
            return Told(REFUSED, None, captured.get(), found.error)
        with console.capture() as captured:
            render_verdict(
                found.verdict, console, catalog, found.repairs, width=width, verbose=verbose
            )
        return Told(found.verdict.name, found.verdict.tier, captured.get())

    return tell


def print_told(told: Sequence[Told], form: str) -> None:
    """Print what was told, as text or JSON."""
    if form == "json":
        print(json.dumps([t.shown for t in told], indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    from ontoweir.report.render_check import render_total

    if all(t.error is not None for t in told):
        return  # what is on stderr says it all
    for t in told:
        sys.stdout.write(t.shown)
    render_total([t.name for t in told], Console(highlight=False))
