"""What `check` and `report` share: repairs, and the page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ontoweir.checker.verdict import Verdict
    from ontoweir.commands.hold_warnings import Warnings
    from ontoweir.describe_repairs import DescribedRepair
    from ontoweir.pipeline import CompiledQuery, Workspace


def find_repairs(
    workspace: "Workspace",
    compiled: "Sequence[CompiledQuery]",
    verdicts: "Sequence[Verdict]",
    *,
    timed: bool = True,
) -> "list[tuple[DescribedRepair, ...]]":
    """What mends each query; nothing where it is bounded."""
    return [
        workspace.repair(c, timed=timed) if v.plans is None else ()
        for c, v in zip(compiled, verdicts, strict=True)
    ]


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
