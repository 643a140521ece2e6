"""Follow owl:imports to local files: every file once, and nothing from a network."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rdflib import OWL, RDF, URIRef

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.import_catalog import CATALOG_FILE, ImportCatalog, path_of_iri, read_catalog
from ontoweir.ontology.syntax.read_triples import Triples, read_triples

if TYPE_CHECKING:
    from owlready2 import Ontology, World

Missing = Callable[[str, str, Source], None]
"""Called with an IRI for which there is no file, why, and the place of the import."""

OntologySource: TypeAlias = "Path | Ontology | World"
"""A file, or what owlready2 holds in memory."""


def follow_imports(
    sources: Sequence[OntologySource],
    imports: Mapping[str, Path],
    missing: Missing,
    touch: Callable[[Path], None] = lambda _: None,
) -> tuple[Triples, ...]:
    """The sources and all that they import, also indirectly, in the order in which they are met.

    `touch` is called with every file before it is read or found missing.

    An imported IRI stands for, in this order: an ontology already read whose IRI or version IRI
    it is; an entry of `imports`; an entry of catalog-v001.xml beside the importing file; the file
    of a file: IRI. Imports may be cyclic.

    Raises:
        OntologyError: a file is missing or broken, or a catalog is.
    """
    reader = _Reader(imports, missing, touch)
    for source in sources:
        if isinstance(source, Path):
            reader.read(source, None)
        else:
            from ontoweir.ontology.syntax.read_owlready import (
                read_owlready,  # owlready2 is slow to import
            )

            for triples in read_owlready(source):
                reader.keep(None, triples)
    place = 0
    while place < len(reader.found):
        reader.follow(*reader.found[place])
        place += 1
    return tuple(triples for _, triples in reader.found)


_ONTOLOGY, _VERSION, _IMPORTS = (
    frozenset((iri,)) for iri in (OWL.Ontology, OWL.versionIRI, OWL.imports)
)
"""Sets, as they find the same object faster than rdflib compares two."""


class _Reader:
    def __init__(
        self, imports: Mapping[str, Path], missing: Missing, touch: Callable[[Path], None]
    ) -> None:
        self.imports, self.missing, self.touch = imports, missing, touch
        self.found: list[tuple[Path | None, Triples]] = []
        self.seen: set[Path] = set()
        self.known: set[str] = set()
        self.catalogs: dict[Path, ImportCatalog | None] = {}

    def read(self, path: Path, importer: Source | None) -> None:
        """Read a file, unless it has been read."""
        if (key := path.resolve()) in self.seen:
            return
        self.seen.add(key)
        if importer is not None and not path.is_file():
            raise OntologyError(
                f"there is no file {path}",
                why="an import stands for it",
                fix="create the file or correct the entry",
                source=importer,
            )
        self.touch(path)
        triples = read_triples(path)
        triples.imported_by = importer
        self.keep(path, triples)

    def keep(self, path: Path | None, triples: Triples) -> None:
        """Take in what was read, of a file or of memory."""
        self.found.append((path, triples))
        for s, p, o, _ in triples.rows:
            if o in _ONTOLOGY and p == RDF.type and isinstance(s, URIRef):
                self.known.add(str(s))
            elif p in _VERSION:
                self.known.add(str(o))

    def follow(self, path: Path | None, triples: Triples) -> None:
        """Read what an ontology imports."""
        wanted = [(s, str(o), n) for s, p, o, n in triples.rows if p in _IMPORTS]
        for s, iri, line in wanted:
            place = triples.source(line, s)
            if iri in self.known:
                continue
            if iri in self.imports:
                self.read(self.imports[iri], place)
                continue
            catalog = None if path is None else self.catalog(path.parent)
            if catalog is not None and iri in catalog.entries:
                target, entry = catalog.entries[iri]
                self.read(target, entry if not target.is_file() else place)
                continue
            local = _local_file(iri)
            if local is not None:
                self.touch(local)
                if local.is_file():
                    self.read(local, place)
                    continue
            why = "no ontology that was read, [project.imports] or catalog-v001.xml has it"
            if local is not None:
                why = "there is no such file"
            if catalog is not None and iri in catalog.remote:
                why = f"{catalog.remote[iri]} names no local file, and nothing is fetched"
            self.missing(iri, why, place)

    def catalog(self, folder: Path) -> ImportCatalog | None:
        """The catalog in a folder, if there is one."""
        if folder not in self.catalogs:
            file = folder / CATALOG_FILE
            self.touch(file)
            self.catalogs[folder] = read_catalog(file) if file.exists() else None
        return self.catalogs[folder]


def _local_file(iri: str) -> Path | None:
    try:
        return path_of_iri(iri)
    except ValueError:
        return None
