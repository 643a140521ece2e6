"""The page of `check --format html` and `report`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ontoweir.checker.verdict import Verdict
    from ontoweir.commands.hold_warnings import Warnings
    from ontoweir.describe_repairs import DescribedRepair
    from ontoweir.pipeline import Workspace


def render_page(
    workspace: "Workspace",
    verdicts: "list[Verdict]",
    repairs: "list[tuple[DescribedRepair, ...]]",
    warnings: "Warnings",
    live: "Mapping[str, str] | None" = None,
) -> str:
    """Verdicts, reasons and repairs as one HTML page; `live`: how queries run."""
    from ontoweir.render_html import render_html

    project = workspace.project
    return render_html(
        verdicts,
        project.catalog,
        title=project.root.name,
        repairs=repairs,
        warnings=list(warnings.seen),
        live=live,
    )
