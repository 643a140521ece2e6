"""Which of the first queries are written: those that are bounded."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ontoweir.errors import OntoweirError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.language_of import language_of_text
from ontoweir.project.project import load_project

_MOST, _AT_LEAST, _EACH = 12, 4, 3
"""So many queries are written, at most; over one stream the first number; over each of several the
second."""
_LARGE = 100_000
"""Rows that no query of the first ones should have to be allowed to keep."""


def file_of_query(query: str, text: str) -> str:
    """Where a query is in its project."""
    return f"queries/{query}.{'sql' if language_of_text(text) == 'sql' else 'rq'}"


def choose_queries(
    files: Mapping[str, str], tried: Sequence[Sequence[tuple[str, str]]]
) -> dict[str, str]:
    """The first queries over each stream that are bounded; those whose bound says little only where
    there are few others.

    Args:
        files: the rest of the project.
        tried: of each stream, names and texts.
    """
    texts = dict(query for one in tried for query in one)
    each = max(_EACH, _AT_LEAST // max(1, len(tried)))
    large = _keep_bounded(files, tried, each)
    kept = [sorted((n for n, _ in one if n in large), key=large.__getitem__) for one in tried]
    small = [sum(not large[name] for name in names) for names in kept]
    kept = [names[: max(few, _EACH)] for names, few in zip(kept, small, strict=True)]
    chosen = {name: texts[name] for names in kept for name in names[:each]}
    left = [name for names in kept for name in names if name not in chosen and not large[name]]
    chosen |= {name: texts[name] for name in left[: max(0, _AT_LEAST - len(chosen))]}
    return dict([*chosen.items()][:_MOST])


def _keep_bounded(
    files: Mapping[str, str], tried: Sequence[Sequence[tuple[str, str]]], each: int
) -> dict[str, bool]:
    """The queries that are bounded, by name, and whether the bound is so large that it says
    little: of each stream as many as may be chosen, and no more streams than there is room for
    (`each`: so many are taken of one), as of many streams there are very many queries."""
    kept: dict[str, bool] = {}
    with tempfile.TemporaryDirectory(prefix="ontoweir-init-") as folder:
        place = Path(folder)
        (place / "queries").mkdir()
        texts = ((file_of_query(n, t), t) for one in tried for n, t in one)
        for name, text in (*files.items(), *texts):
            (place / name).write_text(text, encoding="utf-8")
        workspace = Workspace(load_project(place), partial=True)  # of triples maps, those that fit
        chosen = 0
        for one in tried:
            mine: dict[str, bool] = {}
            for name, _ in one:
                large = _is_large(workspace, name)
                if large is not None:
                    mine[name] = large
                if list(mine.values()).count(False) >= _AT_LEAST:
                    break
            kept |= mine
            chosen += min(each, len(mine))
            if chosen >= _MOST:
                break
    return kept


def _is_large(workspace: Workspace, name: str) -> bool | None:
    """Whether the bound of a query says little (None: it has none)."""
    try:
        verdict = workspace.check(workspace.compile(name))
    except OntoweirError:
        return None
    if not verdict.plans:
        return None
    rows = None if verdict.bound is None else verdict.bound.rows
    return rows is not None and rows > _LARGE
