"""Recall what `check` printed of a query when everything that it depends on was the same."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ontoweir.cache.digest_file import digest_file
from ontoweir.cache.open_cache import Cache
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.commands.common.hold_warnings import Warnings
from ontoweir.commands.common.rendered import Rendered, RenderedVerdict
from ontoweir.pipeline.known.known_inputs import KnownInputs, recall_inputs
from ontoweir.project.project import Project

Key = list[object]
"""What a verdict depends on."""


@dataclass(frozen=True, slots=True)
class KeptVerdicts:
    """What was printed of a project's queries, in the cache.

    It depends on the query, the project file and all that was read (by content: also the lines that
    are quoted), on the program, the current folder, and on `options`: limits of time, and how it is
    shown (JSON). Refusals are not kept, nor what more time could change.
    """

    project: Project
    cache: Cache
    options: Sequence[object]

    def make_keys(self, inputs: KnownInputs, names: Sequence[str]) -> dict[str, Key]:
        """What each query's verdict depends on, as it is now."""
        shared = [
            digest_file(self.project.file),
            sha256(repr(self.project).encode()).hexdigest(),
            inputs.text,
            os.getcwd(),
            *self.options,
        ]
        files: dict[str, Path] = {}
        for path in self.project.queries:
            files.setdefault(path.stem, path)
        return {n: [n, digest_file(files[n]), *shared] for n in names if n in files}

    def read(self, key: Key) -> Rendered[RenderedVerdict] | None:
        """What was printed."""
        return self.cache.read("verdict", key, _take)

    def write(self, entries: Iterable[tuple[Key, Rendered[RenderedVerdict]]]) -> None:
        """Keep it."""
        made = [(k, [r.made.name, r.made.tier, r.made.shown, r.said]) for k, r in entries]
        self.cache.write_all("verdict", made)


def recall_verdicts(
    kept: KeptVerdicts, names: Sequence[str], warnings: Warnings, *, strict: bool
) -> list[RenderedVerdict] | None:
    """What was printed of queries, where it is known of all: then nothing is read but the project
    file. Warnings are those of reading, and of the queries.

    `strict`: as the ontology is to be read.
    """
    known = recall_inputs(kept.project, strict=strict, partial=True, cache=kept.cache)
    if known is None:
        return None
    keys = kept.make_keys(known.inputs, names)
    found: list[Rendered[RenderedVerdict]] = []
    for name in names:
        one = kept.read(keys[name]) if name in keys else None
        if one is None:
            return None
        found.append(one)
    for message in (*known.warnings, *(m for r in found for m in r.said)):
        warnings(message)
    return [r.made for r in found]


def _take(entry: Any) -> Rendered[RenderedVerdict]:
    name, tier, shown, said = entry
    return Rendered(RenderedVerdict(name, Tier(tier), shown), tuple(said), True)
