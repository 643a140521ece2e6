"""Read ontologies and mappings, or take them from the cache where every file is as it was."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from ontoweir.cache.digest_file import digest_file
from ontoweir.cache.encode_values import decode_values, encode_values
from ontoweir.cache.open_cache import Cache
from ontoweir.errors import Source
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model import assertion
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.ontology import axioms
from ontoweir.ontology.load_ontology import LeftOut, OntologyFile, OntologyReading, read_ontology
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.warn_mappings import warn_mappings
from ontoweir.project.project import Project


def _list_classes(module: ModuleType) -> Iterator[type]:
    """The dataclasses that a module defines."""
    for made in vars(module).values():
        if isinstance(made, type) and is_dataclass(made) and made.__module__ == module.__name__:
            yield made


_ONTOLOGY = (Source, TBox, LeftOut, OntologyFile, OntologyReading, *_list_classes(axioms))
_MAPPINGS = (Source, axioms.Because, *_list_classes(assertion))
"""What the cache may make."""


@dataclass(frozen=True, slots=True)
class KnownInputs:
    """A text that changes with everything that an ontology was made of, or mappings: files, their
    imports, the catalog, options; and the files, with their content or absence as it was."""

    text: str
    files: tuple[tuple[str, str | None], ...]

    def are_same(self) -> bool:
        """Whether the files are still as they were."""
        return _unchanged(dict(self.files))


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Without a search for garbage meanwhile: of the many objects that are made nearly all stay,
    and looking through them takes a quarter of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@_collecting_later()
def read_ontology_cached(
    sources: Sequence[Path], imports: Mapping[str, Path], *, strict: bool, cache: Cache | None
) -> tuple[OntologyReading, KnownInputs]:
    """As `read_ontology`. The cache knows, for the files that are named, which ones were read or
    looked for, and their content; all of them are compared.

    Raises:
        OntologyError: as `read_ontology`; errors are not kept.
    """
    named = [[str(p), str(p.absolute())] for p in sources]
    key = [named, sorted((iri, str(p)) for iri, p in imports.items()), strict]

    def take(entry: Any) -> tuple[OntologyReading, KnownInputs]:
        known, encoded = entry
        if not _unchanged(known):
            raise ValueError("a file has changed")
        return decode_values(encoded, _ONTOLOGY), _inputs(key, known, ())

    if cache is not None and (found := cache.read("ontology", key, take)) is not None:
        return found
    digests: dict[str, str | None] = {}

    def touch(path: Path) -> None:
        digests[str(path.absolute())] = digest_file(path)

    reading = read_ontology(sources, imports=imports, strict=strict, touch=touch)
    if cache is not None and _unchanged(digests):
        cache.write("ontology", key, [digests, encode_values(reading)])
    return reading, _inputs(key, digests, ())


@dataclass(frozen=True, slots=True)
class ReadMappings:
    """Mappings, without the facts of the ontology; what is warned of; and what they rest on."""

    mappings: MappingSet
    warnings: tuple[str, ...]
    inputs: KnownInputs


@_collecting_later()
def read_mappings_cached(
    project: Project, tbox: TBox, known: KnownInputs, *, partial: bool, cache: Cache | None
) -> ReadMappings:
    """As `load_mappings` and `warn_mappings`; `known`: what the ontology rests on.

    Mappings of which some are refused are not kept.

    Raises:
        MappingError: as `load_mappings`.
    """

    def digest() -> dict[str, str | None]:
        return {str(path): digest_file(path) for path in project.mappings}

    digests = digest()
    catalog = sha256(repr(project.catalog).encode()).hexdigest()
    key = [list(digests.items()), catalog, partial, known.text]
    inputs = _inputs(key, digests, known.files)

    def take(entry: Any) -> ReadMappings:
        encoded, warnings = entry
        return ReadMappings(MappingSet(decode_values(encoded, _MAPPINGS)), tuple(warnings), inputs)

    if cache is not None and (found := cache.read("mappings", key, take)) is not None:
        return found
    mappings = load_mappings(project.mappings, project.catalog, partial=partial)
    warnings = tuple(warn_mappings(mappings.assertions, tbox, project.catalog))
    if cache is not None and not mappings.refused and digest() == digests:
        cache.write("mappings", key, [encode_values(mappings.assertions), warnings])
    return ReadMappings(mappings, warnings, inputs)


def _unchanged(digests: Mapping[str, str | None]) -> bool:
    """Whether the files are as they were when they were read."""
    return all(digest_file(Path(file)) == digest for file, digest in digests.items())


def _inputs(
    key: object, digests: Mapping[str, str | None], more: Iterable[tuple[str, str | None]]
) -> KnownInputs:
    files = tuple(sorted({*digests.items(), *more}, key=repr))
    return KnownInputs(sha256(repr((key, files)).encode()).hexdigest(), files)
