"""What `check` prints of a query: made where the query was decided, printed when all are."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.commands.common.arguments import hide_kept
from ontoweir.commands.common.rendered import RenderedVerdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.report.encode_json import encode_json

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from ontoweir.commands.common.decide_queries import Outcome
    from ontoweir.errors import OntoweirError
    from ontoweir.report.scanning.print_log import ScanFormat


Render: TypeAlias = "Callable[[Outcome], RenderedVerdict]"


def render_as_json(catalog: Catalog) -> Render:
    """Verdicts as JSON describes them."""
    from ontoweir.pipeline.refused_query import (
        REFUSED,
        RefusedQuery,
        describe_maps,
        describe_refused,
    )
    from ontoweir.report.describe import describe_verdict

    def render(outcome: "Outcome") -> RenderedVerdict:
        if isinstance(outcome, RefusedQuery):
            return RenderedVerdict(REFUSED, None, describe_refused(outcome), outcome.error)
        shown = describe_verdict(outcome.verdict, catalog, outcome.repairs)
        if outcome.compiled.incomplete:
            shown["incomplete"] = describe_maps(outcome.compiled.incomplete)
        return RenderedVerdict(outcome.verdict.name, outcome.verdict.tier, shown)

    return render


def render_as_text(catalog: Catalog, names: Sequence[str], *, verbose: bool) -> Render:
    """Verdicts as text for people, coloured on a terminal; `names`: of all queries."""
    from rich.console import Console

    from ontoweir.pipeline.refused_query import REFUSED, RefusedQuery
    from ontoweir.report.render_check import render_incomplete, render_refused, render_verdict

    console, width = Console(highlight=False), max(map(len, names), default=0)

    def render(outcome: "Outcome") -> RenderedVerdict:
        if isinstance(outcome, RefusedQuery):
            with console.capture() as captured:
                render_refused(outcome, console, width=width)
            return RenderedVerdict(REFUSED, None, captured.get(), outcome.error)
        with console.capture() as captured:
            render_verdict(
                outcome.verdict, console, catalog, outcome.repairs, width=width, verbose=verbose
            )
            if outcome.compiled.incomplete:
                render_incomplete(outcome.compiled.incomplete, console)
        return RenderedVerdict(outcome.verdict.name, outcome.verdict.tier, captured.get())

    return render


def print_as_log(
    decided: "Sequence[Outcome]",
    root: "Path",
    warnings: Sequence[str],
    form: "ScanFormat",
    errors: "Sequence[OntoweirError]" = (),
) -> None:
    """Print what was decided as SARIF or as annotations of GitHub.

    Args:
        decided: of each query, its verdict, or that it is refused.
        root: the project's folder.
        warnings: about the input.
        form: of the log.
        errors: of mappings that are refused, whichever queries they concern.
    """
    from ontoweir.pipeline.refused_query import RefusedQuery
    from ontoweir.report.scanning.print_log import print_log
    from ontoweir.report.scanning.render_sarif import render_sarif

    shown = [d for d in decided if not isinstance(d, RefusedQuery)]
    log = render_sarif(
        [d.verdict for d in shown],
        root,
        warnings,
        repairs=[d.repairs for d in shown],
        refused=[d for d in decided if isinstance(d, RefusedQuery)],
        errors=errors,
    )
    print_log(log, form, sys.stdout)


def describe_console() -> list[object]:
    """What of the terminal changes the text: width, colours, characters."""
    from rich.console import Console

    console = Console(highlight=False)
    return [console.width, console.color_system, console.encoding, console.is_terminal]


def print_verdicts(rendered: Sequence[RenderedVerdict], form: str) -> None:
    """Print what was rendered, as text or JSON."""
    if form == "json":
        print(hide_kept(encode_json([t.shown for t in rendered])))
        return
    from rich.console import Console

    if all(t.error is not None for t in rendered):
        return  # what is on stderr says it all
    for t in rendered:
        sys.stdout.write(hide_kept(t.shown))
    _print_total([t.name for t in rendered], Console(highlight=False))


def _print_total(names: Sequence[str], console: "Console") -> None:
    """Print the number of verdicts of each kind, if there are several."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    if len(names) > 1:
        total = ", ".join(f"{n} {name}" for name, n in counts.items())
        from rich.text import Text

        console.print(Text(f"{len(names)} queries: {total}", style="bold"))
