"""`ontoweir materialize`: the triples that a mapping makes, to stdout or a file."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from ontoweir.errors import DataError, RunError, Source, UsageError
from ontoweir.mappings.materialize_triples import materialize_triples


def materialize(
    mapping: Path,
    database: str,
    output: Path | None,
    *,
    base: str | None = None,
    skip_data_errors: bool = False,
) -> None:
    """Writes N-Quads, all or nothing: a file is replaced when it is complete.

    Args:
        mapping: R2RML in Turtle, or .obda.
        database: `sqlite:FILE`.
        output: the file; None is stdout.
        base: the base IRI, instead of the document's.
        skip_data_errors: leave out triples of values that cannot become terms, and warn with
            their number, instead of raising.

    Raises:
        UsageError: another kind of database.
        MappingError: the mapping is wrong, or does not fit the database.
        DataError: the database cannot be read, or a value cannot become its term.
        RunError: the output cannot be written.
    """
    scheme, colon, file = database.partition(":")
    if not colon or scheme.lower() != "sqlite" or not file:
        raise UsageError(
            f"--database {database}",
            why="SQLite alone is materialized",
            fix="write --database sqlite:FILE",
        )
    skipped: list[DataError] = []
    quads = materialize_triples(
        mapping,
        Path(file),
        base=base,
        on_data_error=skipped.append if skip_data_errors else None,
    )
    if skipped:
        print(
            f"warning: {len(skipped)} values could not become terms, and their triples are left "
            f"out; the first: {skipped[0]}",
            file=sys.stderr,
        )
    text = "".join(f"{q}\n" for q in quads)
    if output is None:
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(text.encode("utf-8"))  # N-Quads are UTF-8 in every locale
        else:
            sys.stdout.write(text)
        return
    _replace(output, text)


def _replace(output: Path, text: str) -> None:
    folder = output.parent
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{output.name}.", suffix=".part")
    except OSError as error:
        raise _unwritable(output, error) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, output)
    except OSError as error:
        raise _unwritable(output, error) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _unwritable(output: Path, error: OSError) -> RunError:
    return RunError(
        f"cannot write the output: {error.strerror}",
        why="--output must be a file in a folder that exists and can be written",
        fix="create the folder, or choose another",
        source=Source(str(output)),
    )
