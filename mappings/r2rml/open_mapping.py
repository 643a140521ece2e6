"""Opens a mapping file in either format."""

from __future__ import annotations

import sys
from pathlib import Path

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.r2rml.mapping_file import MappingFile
from ontoweir.mappings.r2rml.read_obda import read_obda
from ontoweir.mappings.r2rml.read_turtle import read_turtle


def open_mapping(path: Path) -> MappingFile:
    """Parses a Turtle file, or an .obda file into the R2RML that says the same.

    Raises:
        MappingError: the file is missing, is not UTF-8, or is not Turtle (not .obda).
    """
    shown = str(path)
    line = None
    try:
        data = path.read_bytes()
        line = 1
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            line = data.count(b"\n", 0, error.start) + 1
            said = f"byte {error.start} is {data[error.start]:#04x}, which is not UTF-8"
        else:
            said = error.strerror or str(error)
        raise MappingError(
            f"cannot read the mapping: {said}",
            why="it must be a readable UTF-8 file",
            fix="correct the path in [project] mappings"
            if line is None
            else "save the file in UTF-8",
            source=Source(shown, line),
        ) from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = sys.intern(text)  # what is known by the text is found at once when it is read again
    return read_obda(shown, text) if path.suffix == ".obda" else read_turtle(shown, text)
