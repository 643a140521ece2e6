"""Read an OASIS XML catalog, `catalog-v001.xml`: which local file an ontology's IRI stands for.

https://www.oasis-open.org/committees/entity/spec-2001-08-06.html, as Protégé writes it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname
from xml.parsers import expat

from ontoweir.errors import OntologyError, Source

CATALOG_FILE = "catalog-v001.xml"
_BASE = "http://www.w3.org/XML/1998/namespace base"
_REFUSED = ("nextCatalog", "delegateURI", "rewriteURI", "uriSuffix")


@dataclass(slots=True)
class ImportCatalog:
    """The entries of one catalog: for an IRI, a local file and the entry's place."""

    file: str
    entries: dict[str, tuple[Path, Source]] = field(default_factory=dict)
    remote: dict[str, Source] = field(default_factory=dict)
    """Entries that name no file, which are not followed: nothing is fetched."""


def read_catalog(path: Path) -> ImportCatalog:
    """The catalog at `path`; the first entry for an IRI counts.

    Raises:
        OntologyError: it cannot be read, is not XML or no catalog, or names other catalogs.
    """
    made = ImportCatalog(str(path))
    parser = expat.ParserCreate(namespace_separator=" ")
    bases = [path.absolute().as_uri()]

    def start(tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        here = Source(made.file, parser.CurrentLineNumber)
        if len(bases) == 1 and name != "catalog":
            raise _error(f"the root element is {name!r}", "an XML catalog is expected", here)
        bases.append(urljoin(bases[-1], attributes.get(_BASE, "")))
        if name in _REFUSED:
            raise OntologyError(
                f"<{name}> in an import catalog",
                why="only <uri name=… uri=…/> entries are read",
                fix="write the entries it stands for, or list them under [project.imports]",
                source=here,
            )
        if name == "uri":
            if not attributes.get("name") or not attributes.get("uri"):
                raise _error("<uri> lacks name or uri", "it maps an IRI to a file", here)
            _enter(made, attributes["name"], urljoin(bases[-1], attributes["uri"]), here)

    def end(_: str) -> None:
        bases.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(path.read_bytes(), True)
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise _error(what, "it stands beside an ontology with imports", Source(made.file)) from None
    except expat.ExpatError as error:
        place = Source(made.file, error.lineno)
        raise _error("broken XML", expat.ErrorString(error.code), place) from None
    except (ValueError, LookupError) as error:
        place = Source(made.file, parser.CurrentLineNumber)
        raise _error(str(error), "names and encodings must be valid", place) from None
    return made


def _enter(made: ImportCatalog, name: str, target: str, here: Source) -> None:
    iri = name.removeprefix("duplicate:")
    if iri in made.entries or iri in made.remote:
        return
    path = path_of_iri(target)
    if path is None:
        made.remote[iri] = here
    else:
        made.entries[iri] = (path, here)


def path_of_iri(iri: str) -> Path | None:
    """The path of a file: IRI; None for any other."""
    parts = urlsplit(iri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(url2pathname(parts.path))


def _error(what: str, why: str, source: Source) -> OntologyError:
    fix = "mend the catalog, or delete it and list imports under [project.imports]"
    return OntologyError(f"broken import catalog: {what}", why=why, fix=fix, source=source)
