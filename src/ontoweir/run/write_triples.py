"""`ontoweir materialize`: the triples that a mapping makes, to stdout or a file."""

import sys
from pathlib import Path

from ontoweir.errors import DataError, MappingError, UsageError
from ontoweir.files.write_file import write_file
from ontoweir.mappings.materialize.materialize_triples import materialize_triples
from ontoweir.project.refuse_inputs import refuse_files


def materialize(
    mapping: Path,
    database: str,
    output: Path | None,
    *,
    base: str | None = None,
    skip_data_errors: bool = False,
    skip_refused: bool = False,
    quiet: bool = False,
) -> list[MappingError]:
    """Writes N-Quads, all or nothing: a file is replaced when it is complete.

    Args:
        mapping: R2RML in Turtle, or .obda.
        database: `sqlite:FILE`.
        output: the file; None is stdout.
        base: the base IRI, instead of the document's.
        skip_data_errors: leave out triples of values that cannot become terms, and warn with
            their number, instead of raising.
        skip_refused: leave out triples maps that are wrong; else nothing is written, where one is.
        quiet: do not warn.

    Returns:
        what is wrong in triples maps.

    Raises:
        UsageError: another kind of database.
        MappingError: the mapping is wrong as a whole: not Turtle, say.
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
    if output is not None:
        refuse_files(output, [mapping, Path(file)])
    skipped: list[DataError] = []
    refused: list[MappingError] = []
    quads = materialize_triples(
        mapping,
        Path(file),
        base=base,
        on_data_error=skipped.append if skip_data_errors else None,
        on_refused=refused.append,
    )
    if refused and not skip_refused:
        return refused
    if skipped and not quiet:
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
        return refused
    write_file(output, text)
    return refused
