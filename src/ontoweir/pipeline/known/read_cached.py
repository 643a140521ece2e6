"""Read ontologies and mappings, or take them from the cache where every file is as it was."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import ModuleType

from ontoweir.cache.digest_file import digest_file
from ontoweir.cache.encode_values import decode_values, encode_values
from ontoweir.cache.open_cache import Cache
from ontoweir.errors import Source
from ontoweir.mappings.expressions.derive_column import add_derived
from ontoweir.mappings.model import assertion, catalog, expression
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.ontology import axioms
from ontoweir.ontology.load_ontology import LeftOut, OntologyFile, OntologyReading, read_ontology
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.known.known_inputs import (
    KnownInputs,
    digest_mappings,
    join_inputs,
    keep_ontology,
    keep_warnings,
    key_mappings,
    key_ontology,
    recall_ontology,
    recall_warnings,
)
from ontoweir.pipeline.warn_mappings import warn_mappings
from ontoweir.project.project import Project


def _list_classes(module: ModuleType) -> Iterator[type]:
    """The dataclasses that a module defines."""
    for made in vars(module).values():
        if isinstance(made, type) and is_dataclass(made) and made.__module__ == module.__name__:
            yield made


_ONTOLOGY = (Source, TBox, LeftOut, OntologyFile, OntologyReading, *_list_classes(axioms))
_MAPPINGS = (
    Source,
    axioms.Because,
    *_list_classes(assertion),
    *_list_classes(expression),
    expression.Function,
    *(kind for kind in _list_classes(catalog) if kind.__name__.endswith("Type")),
)
"""What the cache may make."""


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
    key = key_ontology(sources, imports, strict)
    known = None if cache is None else recall_ontology(key, cache)
    if cache is not None and known is not None:
        inputs = known.inputs
        found = cache.read("ontology", inputs.text, lambda e: decode_values(e, _ONTOLOGY))
        if found is not None:
            return found, inputs
    digests: dict[str, str | None] = {}

    def touch(path: Path) -> None:
        digests[str(path.absolute())] = digest_file(path)

    reading = read_ontology(sources, imports=imports, strict=strict, touch=touch)
    inputs = join_inputs(key, digests)
    if cache is not None and inputs.are_same():
        warnings: list[str] = []
        reading.warn(warnings.append)
        cache.write("ontology", inputs.text, encode_values(reading))
        keep_ontology(key, digests, warnings, cache)
    return reading, inputs


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

    key = key_mappings(project, known, partial)
    if cache is not None and (warned := recall_warnings(key, cache)) is not None:
        found = cache.read("mappings", key.key, lambda e: MappingSet(decode_values(e, _MAPPINGS)))
        if found is not None:
            return ReadMappings(found, warned, key.inputs)
    from ontoweir.mappings.compile.load_mappings import load_mappings  # brings the parsers

    mappings = load_mappings(project.mappings, project.catalog, partial=partial)
    whole = add_derived(project.catalog, mappings.derived)
    warnings = tuple(warn_mappings(mappings.assertions, tbox, whole))
    if cache is not None and not mappings.refused and digest_mappings(project) == key.digests:
        cache.write("mappings", key.key, encode_values(mappings.assertions))
        keep_warnings(key, warnings, cache)
    return ReadMappings(mappings, warnings, key.inputs)
