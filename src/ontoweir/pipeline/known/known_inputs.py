"""What ontologies and mappings were made of, and what is warned of, as the cache knows it: without
reading them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ontoweir.cache.digest_file import digest_file
from ontoweir.cache.open_cache import Cache
from ontoweir.project.project import Project


@dataclass(frozen=True, slots=True)
class KnownInputs:
    """A text that changes with everything that an ontology was made of, or mappings: files, their
    imports, the catalog, options; and the files, with their content or absence as it was."""

    text: str
    files: tuple[tuple[str, str | None], ...]

    def are_same(self) -> bool:
        """Whether the files are still as they were."""
        return are_unchanged(dict(self.files))


@dataclass(frozen=True, slots=True)
class Recalled:
    """What ontology and mappings rest on, and all that reading them warns of, in order. No triples
    map is refused: then nothing is kept."""

    inputs: KnownInputs
    warnings: tuple[str, ...]


def recall_inputs(
    project: Project, *, strict: bool, partial: bool, cache: Cache
) -> Recalled | None:
    """What the ontology and the mappings of a project rest on, where they were read before and all
    files are as they were; else None."""
    ontology = recall_ontology(key_ontology(project.ontology, project.imports, strict), cache)
    if ontology is None:
        return None
    mappings = key_mappings(project, ontology.inputs, partial)
    warned = recall_warnings(mappings, cache)
    if warned is None:
        return None
    return Recalled(mappings.inputs, (*ontology.warnings, *warned))


Key = list[Any]
"""JSON."""


def key_ontology(sources: Sequence[Path], imports: Mapping[str, Path], strict: bool) -> Key:
    """What is known of an ontology before any file is read."""
    named = [[str(p), str(p.absolute())] for p in sources]
    return [named, sorted((iri, str(p)) for iri, p in imports.items()), strict]


def recall_ontology(key: Key, cache: Cache) -> Recalled | None:
    """What an ontology rests on and warns of, if every file that was read or looked for is as it
    was."""

    def take(entry: Any) -> Recalled:
        digests, warnings = entry
        if not are_unchanged(digests):
            raise ValueError("a file has changed")
        return Recalled(join_inputs(key, digests), _read_texts(warnings))

    return cache.read("sources", key, take)


def keep_ontology(
    key: Key, digests: Mapping[str, str | None], warnings: Sequence[str], cache: Cache
) -> None:
    """Keep what an ontology rests on and warns of."""
    cache.write("sources", key, [dict(digests), list(warnings)])


@dataclass(frozen=True, slots=True)
class MappingKey:
    """The mapping files of a project as they are, and what its mappings depend on with them."""

    key: Key
    inputs: KnownInputs
    digests: Mapping[str, str | None]


def key_mappings(project: Project, ontology: KnownInputs, partial: bool) -> MappingKey:
    """What the mappings of a project depend on: files, catalog, options, ontology."""
    digests = digest_mappings(project)
    catalog = sha256(repr(project.catalog).encode()).hexdigest()
    key = [list(digests.items()), catalog, partial, ontology.text]
    return MappingKey(key, join_inputs(key, digests, ontology.files), digests)


def digest_mappings(project: Project) -> dict[str, str | None]:
    """The content of the mapping files."""
    return {str(path): digest_file(path) for path in project.mappings}


def recall_warnings(mappings: MappingKey, cache: Cache) -> tuple[str, ...] | None:
    """What is warned of in mappings."""
    return cache.read("warnings", mappings.key, _read_texts)


def keep_warnings(mappings: MappingKey, warnings: Sequence[str], cache: Cache) -> None:
    """Keep what is warned of in mappings."""
    cache.write("warnings", mappings.key, list(warnings))


def _read_texts(entry: Any) -> tuple[str, ...]:
    if not isinstance(entry, list) or not all(isinstance(text, str) for text in entry):
        raise TypeError("it is no list of texts")
    return tuple(entry)


def are_unchanged(digests: Mapping[str, str | None]) -> bool:
    """Whether files are as they were when they were read."""
    return all(digest_file(Path(file)) == digest for file, digest in digests.items())


def join_inputs(
    key: object,
    digests: Mapping[str, str | None],
    more: Iterable[tuple[str, str | None]] = (),
) -> KnownInputs:
    """A key and files as one text."""
    files = tuple(sorted({*digests.items(), *more}, key=repr))
    return KnownInputs(sha256(repr((key, files)).encode()).hexdigest(), files)
