"""Compiled queries and their bounded verdicts, as they were found before."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ontoweir.cache.digest_file import digest_file
from ontoweir.cache.encode_values import Encoded, decode_values, encode_values
from ontoweir.cache.open_cache import Cache
from ontoweir.checker.model.difference_bounds import DifferenceBounds
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.checker.verdict.list_classes import list_classes
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.errors import Source
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.known.known_inputs import KnownInputs, recall_inputs
from ontoweir.project.project import Project


@cache
def _classes() -> tuple[type, ...]:
    """What the cache may make."""
    return tuple(list_classes())


@dataclass(frozen=True, slots=True)
class KeptQueries:
    """Queries of a project in the cache: what they compile to, and their verdicts.

    Each depends on its text and name, the project, the ontology and mappings, all by content, and
    the program. Kept are those that are bounded, of which nothing is left out, in projects without
    functions of the user's: what more time, or other modules, could change is not.
    """

    project: Project
    cache: Cache
    strict: bool
    partial: bool

    def recall(self, file: Path, text: str, *, mapped: bool) -> "Recalled | None":
        """A query, where it is known; no file is read but to compare its content.

        Args:
            file: what its text is in.
            text: of it.
            mapped: ontology and mappings are used.
        """
        warnings: tuple[str, ...] = ()
        inputs: KnownInputs | None = None
        if mapped:
            known = recall_inputs(
                self.project, strict=self.strict, partial=self.partial, cache=self.cache
            )
            if known is None:
                return None
            warnings, inputs = known.warnings, known.inputs

        key = self._key(str(file), text, inputs)

        def take(entry: Any) -> Recalled:
            said, encoded = entry
            union, verdict = _decode(encoded, str(file))
            told = tuple(str(text).replace(_HERE, str(file)) for text in said)
            compiled = CompiledQuery(file.stem, (), (), union, told, kept_as=repr(key))
            return Recalled(compiled, verdict, (*warnings, *compiled.warnings))

        return self.cache.read("query", key, take)

    def keep(
        self, compiled: CompiledQuery, inputs: KnownInputs | None, verdict: Verdict
    ) -> CompiledQuery:
        """Keep a query, where it may be, and return it, with what it is kept as.

        Args:
            compiled: the query.
            inputs: what ontology and mappings were made of (None: they are not used).
            verdict: on it, from the declarations alone.
        """
        source, text = compiled.union.source, compiled.text
        if source is None or text is None:
            return compiled
        if verdict.plans is None or compiled.incomplete or self.project.catalog.functions:
            return compiled
        if inputs is not None and not inputs.are_same():
            return compiled
        encoded = _encode((compiled.union, verdict), source.file)
        if encoded is None:
            return compiled
        key = self._key(source.file, text, inputs)
        said = [text.replace(source.file, _HERE) for text in compiled.warnings]
        self.cache.write("query", key, [said, encoded])
        return replace(compiled, kept_as=repr(key))

    def recall_refined(self, compiled: CompiledQuery, known: Statistics) -> Verdict | None:
        """The verdict on a query that is kept, refined by what the static data says."""
        source = compiled.union.source
        if compiled.kept_as is None or source is None:
            return None

        def take(entry: Any) -> Verdict:
            made = _decode(entry, source.file)
            if not isinstance(made, Verdict):
                raise TypeError("it is no verdict")
            return made

        return self.cache.read("refined", _key_refined(compiled.kept_as, known), take)

    def keep_refined(self, compiled: CompiledQuery, known: Statistics, verdict: Verdict) -> None:
        """Keep it, if the query is kept."""
        source = compiled.union.source
        if compiled.kept_as is None or source is None:
            return
        if (encoded := _encode(verdict, source.file)) is not None:
            self.cache.write("refined", _key_refined(compiled.kept_as, known), encoded)

    def _key(self, file: str, text: str, inputs: KnownInputs | None) -> list[object]:
        return [
            Path(file).name,
            sha256(text.encode()).hexdigest(),
            digest_file(self.project.file),
            sha256(repr(self.project).encode()).hexdigest(),
            None if inputs is None else inputs.text,
            os.getcwd(),
        ]


def _key_refined(kept_as: str, known: Statistics) -> list[object]:
    return [kept_as, repr(sorted(known.rows.items())), repr(sorted(known.columns.items()))]


_HERE = "\0"
"""Stands for the path of the query's file, which may be another the next time: the text of a query
on the command line is in a file of the process."""


def _encode(value: object, file: str) -> Encoded | None:
    """As JSON, whatever the path of the query's file; None where it is made of other classes than
    JSON is: it is found each time."""

    def open_source(source: Source) -> tuple[object, ...]:
        place = _HERE if source.file == file else source.file
        return place, source.line, source.column, source.end_column

    opened = {DifferenceBounds: lambda bounds: bounds.parts, Source: open_source}
    try:
        return encode_values(value, opened)
    except TypeError:
        return None


def _decode(encoded: Any, file: str) -> Any:
    def make_source(place: str, *more: int | None) -> Source:
        return Source(file if place == _HERE else place, *more)

    opened: dict[type, Callable[..., Any]] = {
        DifferenceBounds: DifferenceBounds.restore,
        Source: make_source,
    }
    return decode_values(encoded, _classes(), opened)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A query as it was compiled and decided before, without its branches and the trace of its
    rewriting; and what is warned of, in order."""

    compiled: CompiledQuery
    verdict: Verdict
    warnings: tuple[str, ...]
