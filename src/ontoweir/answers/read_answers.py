"""Read answers from a file, or from a folder of them, portion by portion."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.files.name_formats import OUTPUTS

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Answers:
    """Files of answers, in order; a table of Delta or Iceberg is its folder."""

    files: tuple[Path, ...]

    def read(self, kinds: "Mapping[str, pa.DataType] | None" = None) -> "Iterator[pa.Table]":
        """All rows, some at a time.

        Args:
            kinds: as what columns of CSV and JSON lines are read (those without: as they seem).

        Raises:
            DataError: a file is not what its name says.
        """
        import pyarrow as pa

        for file in self.files:
            try:
                yield from _read(file, kinds or {})
            except (OSError, ValueError, pa.ArrowException) as error:
                raise DataError(
                    f"{file.name} cannot be read: {str(error).splitlines()[0]}",
                    why=f"it is read as {_form(file)}, by its name",
                    fix="name a file of answers, or rename it",
                    source=Source(str(file)),
                ) from error


def find_answers(path: Path) -> Answers:
    """The files of answers at a path.

    Args:
        path: a file, Parquet, CSV, JSON lines, Arrow, Avro, SPARQL's JSON or N-Quads by its name;
            or a folder, as `run` writes it; or one of a table of Delta or Iceberg, which is read
            as its log says: files of what has been replaced lie there, too.

    Raises:
        UsageError: there are none.
    """
    files = _list_files(path)
    if not path.exists():
        raise UsageError(
            f"there is no {path}",
            why="it is neither a file, nor a folder",
            fix="name what `replay --output` or `run --output` has written, or a query",
        )
    wrong = next((p for p in files if p.is_file() and output_form(p) is None), None)
    if wrong is not None or not files:
        raise UsageError(
            f"{path} holds no answers" if wrong is None else f"{path} is no file of answers",
            why="answers are in files called .parquet, .csv, .jsonl, .arrow, .avro, .srj or .nq, "
            "or in a folder of such",
            fix="name what `replay --output` or `run --output` has written, or a query",
            source=Source(str(path)),
        )
    return Answers(tuple(files))


def table_form(folder: Path) -> Literal["delta", "iceberg"] | None:
    """Of which format a folder is a table (None: it is none)."""
    if (folder / "_delta_log").is_dir():
        return "delta"
    metadata = folder / "metadata"
    return "iceberg" if next(metadata.glob("*.metadata.json"), None) is not None else None


def _list_files(path: Path) -> list[Path]:
    """A file; the files of a folder that are in no table, and the tables."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    if table_form(path) is not None:
        return [path]
    tables, alone = set[Path](), list[Path]()
    for place, folders, names in os.walk(path):  # passes over what a run packs away meanwhile
        inside = [Path(place, name) for name in folders]
        tables.update(p for p in inside if table_form(p) is not None)
        folders[:] = [p.name for p in inside if p not in tables]
        files = (Path(place, name) for name in names)
        alone += [p for p in files if p.suffix.lower() in OUTPUTS and p.is_file()]
    return sorted(p for p in (*alone, *tables) if not _is_hidden(p, path))


def _form(file: Path) -> str:
    return table_form(file) or output_form(file) or ""


def output_form(file: Path) -> str | None:
    """The format of a file that answers were written to (None: it is none); without an ending it is
    Parquet, as `replay --output NAME` writes it."""
    form = OUTPUTS.get(file.suffix.lower())
    if form is not None or file.suffix:
        return form
    with file.open("rb") as opened:
        return "parquet" if opened.read(4) == b"PAR1" else None


def _is_hidden(file: Path, folder: Path) -> bool:
    """What runs note beside answers, and what they are still writing."""
    parts = file.relative_to(folder).parts
    marks = ("parts.jsonl", "metrics.jsonl", "status.json")
    return (
        any(p.startswith((".", "_")) for p in parts)
        or parts[0] == "rejects"
        or (parts[-1] in marks)
    )


def _read(file: Path, kinds: "Mapping[str, pa.DataType]") -> "Iterator[pa.Table]":
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    if (table := table_form(file)) is not None:
        from ontoweir.runtime.packed.read_whole import read_whole

        yield from read_whole(str(file), table)
        return
    match output_form(file):
        case "parquet":
            with pq.ParquetFile(file) as opened:
                if not opened.num_row_groups:
                    yield opened.schema_arrow.empty_table()
                for group in range(opened.num_row_groups):
                    yield opened.read_row_group(group)
        case "csv":
            # what is not there is NULL, a text without letters is in quotes
            kept = pc.ConvertOptions(
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                column_types=kinds,
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
                yield _read_lines(file, kinds)


def _read_lines(file: Path, kinds: "Mapping[str, pa.DataType]") -> "pa.Table":
    """JSON lines; as they seem, where a value is of another type than it should be."""
    import pyarrow as pa
    import pyarrow.json as pj

    if kinds:
        try:
            return pj.read_json(file, parse_options=pj.ParseOptions(pa.schema({**kinds})))
        except pa.ArrowInvalid:
            pass
    return pj.read_json(file)
