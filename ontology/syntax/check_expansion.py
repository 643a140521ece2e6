"""Refuse XML whose entities make much of little ("billion laughs") before any is made of it."""

from xml.parsers import expat

from ontoweir.errors import OntologyError, Source

_FREE = 1 << 20
_MAX_PER_BYTE = 16
"""What a file says may be so many times as long as the file, and so many characters more."""
_ELEMENT = 32
"""An element that an entity makes counts like so many characters."""
_AMPLIFIED = "amplification"


def check_expansion(data: bytes, file: str) -> None:
    """Read a file without keeping anything, and only if it declares entities.

    Prefixes of IRIs are written as entities, so a file may well say some times what it holds.

    Raises:
        OntologyError: its entities make it many times as long. Other faults are its reader's.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    limit, said, declared = _FREE + _MAX_PER_BYTE * len(data), 0, False

    def declare(*_: object) -> None:
        nonlocal declared
        declared = True

    def count(length: int) -> None:
        nonlocal said
        said += length
        if said > limit:
            raise _refused(file, parser.CurrentLineNumber)

    def start(_: str, attributes: dict[str, str]) -> None:
        if not declared:
            raise _NothingDeclared
        count(_ELEMENT + sum(len(value) for value in attributes.values()))

    parser.EntityDeclHandler = declare
    parser.StartElementHandler = start
    parser.CharacterDataHandler = lambda text: count(len(text))
    try:
        parser.Parse(data, True)
    except _NothingDeclared:
        return
    except expat.ExpatError as error:
        if _AMPLIFIED in expat.ErrorString(error.code):
            raise _refused(file, error.lineno) from None
    except (ValueError, LookupError):
        return  # an encoding that its reader refuses too


class _NothingDeclared(Exception):
    """The first element has begun, and no entity is declared."""


def _refused(file: str, line: int) -> OntologyError:
    return OntologyError(
        "the entities of the file make it many times as long",
        why=f"a file may say at most {_MAX_PER_BYTE} times what it holds, as small ones could "
        "fill memory",
        fix="write what the entities stand for, or remove them",
        source=Source(file, line),
    )
