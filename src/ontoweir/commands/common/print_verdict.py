"""What `check` prints of a query: made where the query was decided, printed when all are."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.commands.common.decide_queries import Outcome
from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.refused_query import REFUSED, RefusedQuery, describe_refused


@dataclass(frozen=True, slots=True)
class RenderedVerdict:
    """The name of a verdict ("bounded" …), its tier, and what is printed: text or JSON; of a
    refused query why it is."""

    name: str
    tier: Tier | None
    shown: Any
    error: OntoweirError | None = None


Render: TypeAlias = Callable[[Outcome], RenderedVerdict]


def render_as_json(catalog: Catalog) -> Render:
    """Verdicts as JSON describes them."""
    from ontoweir.report.describe import describe_verdict

    def render(found: Outcome) -> RenderedVerdict:
        if isinstance(found, RefusedQuery):
            return RenderedVerdict(REFUSED, None, describe_refused(found), found.error)
        shown = describe_verdict(found.verdict, catalog, found.repairs)
        return RenderedVerdict(found.verdict.name, found.verdict.tier, shown)

    return render


def render_as_text(catalog: Catalog, names: Sequence[str], *, verbose: bool) -> Render:
    """Verdicts as text for people, coloured on a terminal; `names`: of all queries."""
    from rich.console import Console

    from ontoweir.report.render_check import render_refused, render_verdict

    console, width = Console(highlight=False), max(map(len, names), default=0)

    def render(found: Outcome) -> RenderedVerdict:
        if isinstance(found, RefusedQuery):
            with console.capture() as captured:
                render_refused(found, console, width=width)
            return RenderedVerdict(REFUSED, None, captured.get(), found.error)
        with console.capture() as captured:
            render_verdict(
                found.verdict, console, catalog, found.repairs, width=width, verbose=verbose
            )
        return RenderedVerdict(found.verdict.name, found.verdict.tier, captured.get())

    return render


def print_verdicts(rendered: Sequence[RenderedVerdict], form: str) -> None:
    """Print what was rendered, as text or JSON."""
    if form == "json":
        print(json.dumps([t.shown for t in rendered], indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    from ontoweir.report.render_check import render_total

    if all(t.error is not None for t in rendered):
        return  # what is on stderr says it all
    for t in rendered:
        sys.stdout.write(t.shown)
    render_total([t.name for t in rendered], Console(highlight=False))
