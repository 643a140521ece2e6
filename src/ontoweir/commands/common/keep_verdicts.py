"""Decide the queries whose verdicts are not known yet, and keep what is printed of them."""

from collections.abc import Sequence

from ontoweir.commands.common.decide_queries import decide_each
from ontoweir.commands.common.hold_warnings import Warnings
from ontoweir.commands.common.print_verdict import Render
from ontoweir.commands.common.recall_verdicts import KeptVerdicts
from ontoweir.commands.common.rendered import Rendered, RenderedVerdict
from ontoweir.pipeline.pipeline import Workspace


def keep_verdicts(
    workspace: Workspace,
    names: Sequence[str],
    warnings: Warnings,
    render: Render,
    kept: KeptVerdicts | None,
    *,
    timed: bool,
) -> list[RenderedVerdict]:
    """As `decide_queries`, of queries that were decided before without deciding them again; what
    is decided now is kept (`kept` is None: nowhere).

    Raises:
        OntoweirError: as `decide_queries`.
    """
    assert workspace.mappings is not None
    keys = {} if kept is None else kept.make_keys(workspace.inputs, names)
    found: dict[str, Rendered[RenderedVerdict]] = {}
    for name, key in keys.items():
        if kept is not None and (known := kept.read(key)) is not None:
            found[name] = known
    left = [name for name in names if name not in found]
    made = dict(zip(left, decide_each(workspace, left, render, timed=timed), strict=True))
    if kept is not None and made and workspace.inputs.are_same():
        later = kept.make_keys(workspace.inputs, left)
        for name, one in made.items():
            if one.final and later[name] == keys[name]:
                kept.write(keys[name], one)
    rendered = [found[name] if name in found else made[name] for name in names]
    for message in (m for r in rendered for m in r.said):
        warnings(message)
    return [r.made for r in rendered]
