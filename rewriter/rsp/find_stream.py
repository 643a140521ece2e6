"""The stream of the catalog that an IRI names."""

import re
from difflib import get_close_matches

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog, IntType, Scalar, Stream
from ontoweir.rewriter.rsp.stream_part import StreamPart

_COLUMN = re.compile(r"\{([^{}]*)\}")


def find_stream(iri: str, catalog: Catalog, place: Source) -> StreamPart:
    """The rows that an IRI names: `iri` of a stream, of which a column in braces has a value.

    Raises:
        QueryError: no stream has it, or several have.
    """
    found = [p for s in catalog.streams.values() if (p := _match(iri, s)) is not None]
    if len(found) == 1:
        return found[0]
    known = [s.iri for s in catalog.streams.values() if s.iri is not None]
    if found:
        raise QueryError(
            f"<{iri}> is the IRI of several streams",
            why=f"{', '.join(p.stream for p in found)} have it",
            fix="let their iri tell them apart",
            source=place,
        )
    near = get_close_matches(iri, known, n=1, cutoff=0.0)
    names = ", ".join(sorted(catalog.streams)) or "no stream"
    raise QueryError(
        f"no stream has the IRI <{iri}>",
        why=f"the nearest is {near[0]}" if near else f"the project declares {names}, without iri",
        fix=f'correct it, or write iri = "{iri}" in the stream\'s section of the project file',
        source=place,
    )


def name_stream(name: str, catalog: Catalog, place: Source) -> StreamPart:
    """The rows of the stream that is called so.

    Raises:
        QueryError: none is.
    """
    if name in catalog.streams:
        return StreamPart(name)
    known = ", ".join(sorted(catalog.streams)) or "no stream"
    raise QueryError(
        f"no stream is called {name}",
        why=f"the project declares {known}",
        fix="write one of them, or the IRI of one",
        source=place,
    )


def _match(iri: str, stream: Stream) -> StreamPart | None:
    if stream.iri is None:
        return None
    before, *rest = _COLUMN.split(stream.iri)
    if not rest:
        return StreamPart(stream.name) if iri == stream.iri else None
    name, after = rest
    if not (iri.startswith(before) and iri.endswith(after)):
        return None
    text = iri[len(before) : len(iri) - len(after)]
    column = stream.column(name)
    assert column is not None
    value: Scalar = text
    if isinstance(column.type, IntType):
        if not text.isascii() or not text.isdigit() or str(int(text)) != text:
            return None
        value = int(text)
    return StreamPart(stream.name, name, value) if text else None
