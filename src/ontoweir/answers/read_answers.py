"""Read answers from a file, or from a folder of them, portion by portion."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.files.name_formats import OUTPUTS

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Answers:
    """Files of answers, in order."""

    files: tuple[Path, ...]

    def read(self) -> "Iterator[pa.Table]":
        """All rows, some at a time.

        Raises:
            DataError: a file is not what its name says.
        """
        import pyarrow as pa

        for file in self.files:
            try:
                yield from _read(file)
            except (OSError, ValueError, pa.ArrowException) as error:
                raise DataError(
                    f"{file.name} cannot be read: {str(error).splitlines()[0]}",
                    why=f"it is read as {OUTPUTS[file.suffix.lower()]}, by its name",
                    fix="name a file of answers, or rename it",
                    source=Source(str(file)),
                ) from error


def find_answers(path: Path) -> Answers:
    """The files of answers at a path.

    Args:
        path: a file, Parquet, CSV, JSON lines, Arrow, Avro, SPARQL's JSON or N-Quads by its name;
            or a folder, as `run` writes it.

    Raises:
        UsageError: there are none.
    """
    if path.is_dir():
        inside = (p for p in path.rglob("*") if p.suffix.lower() in OUTPUTS)
        files = sorted(p for p in inside if p.is_file() and not _is_hidden(p, path))
    else:
        files = [path] if path.is_file() else []
    if not path.exists():
        raise UsageError(
            f"there is no {path}",
            why="it is neither a file, nor a folder",
            fix="name what `replay --output` or `run --output` has written, or a query",
        )
    wrong = next((p for p in files if p.suffix.lower() not in OUTPUTS), None)
    if wrong is not None or not files:
        raise UsageError(
            f"{path} holds no answers" if wrong is None else f"{path} is no file of answers",
            why="answers are in files called .parquet, .csv, .jsonl, .arrow, .avro, .srj or .nq, "
            "or in a folder of such",
            fix="name what `replay --output` or `run --output` has written, or a query",
            source=Source(str(path)),
        )
    return Answers(tuple(files))


def _is_hidden(file: Path, folder: Path) -> bool:
    """What runs note beside answers, and what they are still writing."""
    parts = file.relative_to(folder).parts
    marks = ("parts.jsonl", "metrics.jsonl", "status.json")
    return (
        any(p.startswith((".", "_")) for p in parts)
        or parts[0] == "rejects"
        or (parts[-1] in marks)
    )


def _read(file: Path) -> "Iterator[pa.Table]":
    import pyarrow.csv as pc
    import pyarrow.json as pj
    import pyarrow.parquet as pq

    match OUTPUTS[file.suffix.lower()]:
        case "parquet":
            with pq.ParquetFile(file) as opened:
                if not opened.num_row_groups:
                    yield opened.schema_arrow.empty_table()
                for group in range(opened.num_row_groups):
                    yield opened.read_row_group(group)
        case "csv":
            # what is not there is NULL, a text without letters is in quotes
            kept = pc.ConvertOptions(
                null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
            )
            yield pc.read_csv(file, convert_options=kept)
        case "arrow" | "avro" as form:
            from ontoweir.runtime.packed.read_whole import read_whole

            yield from read_whole(str(file), form)
        case "srj" | "nq":
            from ontoweir.answers.read_rdf import read_rdf

            yield read_rdf(file)
        case _:
            if file.stat().st_size:
                yield pj.read_json(file)
