"""Tables of text that is neither CSV nor JSON lines, as files that ontoweir reads."""

import csv
import json
import shutil
from pathlib import Path

from ontoweir.scaffold.copies.export_access_log import export_access_log, is_access_log
from ontoweir.scaffold.copies.export_log import export_log, is_log, refuse_without_year
from ontoweir.scaffold.texts.points import write_points
from ontoweir.scaffold.texts.read_aligned import read_aligned
from ontoweir.scaffold.texts.read_annotated import read_annotated
from ontoweir.scaffold.texts.read_document import read_document
from ontoweir.scaffold.texts.read_line_protocol import is_line_protocol, read_line_protocol

_HEAD = 1 << 16
_ANNOTATIONS = ("#group", "#datatype", "#default")
_TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".avro")
"""What is a table by its name is read as it is, but for annotated CSV."""
_MARKS = ",;\t|"
_LINES = 100
"""So many lines of a file that its name says nothing of say whether it is a table."""


def export_text(file: Path, folder: Path, *, named: bool = False) -> list[Path]:
    """The tables of a file, written once, as Parquet, JSON lines or CSV (empty: it is read as it
    is): InfluxDB's line protocol and annotated CSV, a JSON document with rows, logs of web
    servers and programs, columns that blanks part; whatever has cells, and is called otherwise.

    Args:
        file: of text.
        folder: for the tables.
        named: the user names its columns: a log is as many cells as these, then.

    Raises:
        DataError: it begins like one of these, and is none; or a log has times without a year.
        OSError: it cannot be read.
    """
    if not file.is_file() or file.suffix.lower() in (".parquet", ".avro", ".gz", ".bz2", ".zst"):
        return []
    with file.open("rb") as opened:
        head = opened.read(_HEAD).decode("utf-8-sig", "replace")
    if head.lstrip().startswith(_ANNOTATIONS):
        return write_points(read_annotated(file), file, folder)
    suffix = file.suffix.lower()
    if not named and suffix not in _TABLES and is_log(head[: head.rfind("\n") + 1]):
        return [export_log(file, folder)]
    if suffix == ".json" or (suffix not in _TABLES and head.lstrip()[:1] in ("[", "{")):
        return [] if _is_lines(head) else _export_document(file, folder)
    if suffix in _TABLES:
        return []
    if is_access_log(head[: head.rfind("\n") + 1]):
        return [export_access_log(file, folder)]
    refuse_without_year(file, head)
    if is_line_protocol(head[: head.rfind("\n") + 1]):
        return write_points(read_line_protocol(file), file, folder)
    target = folder / f"{file.stem}.csv"
    if "\t" not in head and read_aligned(head[: head.rfind("\n") + 1]) is not None:
        found = read_aligned(file.read_text(encoding="utf-8", errors="replace"))
        if found is not None:
            rows = [found[0], *found[1]] if found[0] else found[1]
            with target.open("w", newline="", encoding="utf-8") as written:
                csv.writer(written, lineterminator="\n").writerows(rows)
            return [target]
    if suffix != ".txt" and _is_parted(head[: head.rfind("\n") + 1]):
        shutil.copyfile(file, target)
        return [target]
    return []


def _is_parted(head: str) -> bool:
    """Whether the lines of a file have the same number of cells, several."""
    if "\0" in head:
        return False
    lines = head.splitlines()[:_LINES]
    counts = ({line.count(mark) for line in lines} for mark in _MARKS)
    return len(lines) > 1 and any(len(found) == 1 and found != {0} for found in counts)


def _is_lines(head: str) -> bool:
    """Whether the first line is an object, and another one follows."""
    first, _, rest = head.lstrip().partition("\n")
    try:
        return isinstance(json.loads(first), dict) and rest.lstrip().startswith("{")
    except ValueError:
        return False


def _export_document(file: Path, folder: Path) -> list[Path]:
    try:
        rows = read_document(json.loads(file.read_text(encoding="utf-8-sig")))
    except ValueError:  # JSON lines, or no JSON at all
        return []
    if rows is None:
        return []
    target = folder / f"{file.stem}.jsonl"
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    target.write_text("".join(lines), encoding="utf-8")
    return [target]
