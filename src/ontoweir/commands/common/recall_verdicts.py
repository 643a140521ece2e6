"""Recall what `check` printed of a query when everything that it depends on was the same."""

import os
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from ontoweir.cache.digest_file import digest_file
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.commands.common.decide_queries import Rendered, decide_each
from ontoweir.commands.common.hold_warnings import Warnings
from ontoweir.commands.common.print_verdict import Render, RenderedVerdict
from ontoweir.pipeline.pipeline import Workspace


def recall_verdicts(
    workspace: Workspace,
    names: Sequence[str],
    warnings: Warnings,
    render: Render,
    shown: object,
    *,
    timed: bool,
) -> list[RenderedVerdict]:
    """As `decide_queries`, of queries that were decided before without deciding them again.

    What is kept is what was printed. It depends on the query, the project file and all that was
    read (by content: also the lines that are quoted), on the program, the current folder, the
    limits of time, and on how it is shown (`shown`). Refusals are not kept, nor what more time
    could change.

    Raises:
        OntoweirError: as `decide_queries`.
    """
    cache = workspace.cache
    assert workspace.mappings is not None
    keys = _make_keys(workspace, names, [shown, timed])
    found: dict[str, Rendered[RenderedVerdict]] = {}
    for name, key in keys.items():
        known = None if cache is None else cache.read("verdict", key, _take)
        if known is not None:
            found[name] = known
    left = [name for name in names if name not in found]
    made = dict(zip(left, decide_each(workspace, left, render, timed=timed), strict=True))
    if cache is not None and made and workspace.inputs.are_same():
        later = _make_keys(workspace, left, [shown, timed])
        for name, one in made.items():
            if one.final and later[name] == keys[name]:
                cache.write("verdict", keys[name], _put(one))
    rendered = [found[name] if name in found else made[name] for name in names]
    for message in (m for r in rendered for m in r.said):
        warnings(message)
    return [r.made for r in rendered]


def _make_keys(
    workspace: Workspace, names: Sequence[str], options: Sequence[object]
) -> dict[str, list[object]]:
    """What each query's verdict depends on, as it is now."""
    project = workspace.project
    shared = [
        digest_file(project.file),
        sha256(repr(project).encode()).hexdigest(),
        workspace.inputs.text,
        os.getcwd(),
        [workspace.time_limit, workspace.repair_time_limit, sorted(workspace.skip)],
        *options,
    ]
    return {n: [n, digest_file(workspace.query_file(n)), *shared] for n in names}


def _put(rendered: Rendered[RenderedVerdict]) -> list[Any]:
    made = rendered.made
    return [made.name, made.tier, made.shown, rendered.said]


def _take(entry: Any) -> Rendered[RenderedVerdict]:
    name, tier, shown, said = entry
    return Rendered(RenderedVerdict(name, Tier(tier), shown), tuple(said), True)
