"""The page of `check --format html` and `report`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ontoweir.commands.common.decide_queries import Outcome
    from ontoweir.commands.common.hold_warnings import Warnings
    from ontoweir.pipeline.pipeline import Workspace


def render_page(
    workspace: "Workspace",
    decided: "Sequence[Outcome]",
    warnings: "Warnings",
    live: "Mapping[str, str] | None" = None,
) -> str:
    """Verdicts, reasons and repairs as one HTML page; `live`: how queries run."""
    from ontoweir.commands.common.decide_queries import Decided
    from ontoweir.report.render_html import render_html

    project = workspace.project
    return render_html(
        [d.verdict if isinstance(d, Decided) else d for d in decided],
        project.catalog,
        title=project.root.name,
        repairs=[d.repairs if isinstance(d, Decided) else () for d in decided],
        warnings=list(warnings.seen),
        live=live,
    )
