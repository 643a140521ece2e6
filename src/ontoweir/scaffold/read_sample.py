"""Read the beginning of a file of data, with the types that its values seem to have."""

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.files.name_formats import FORMATS, FileFormat
from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.scaffold.find_envelope import Changes, find_envelope
from ontoweir.scaffold.flatten_rows import count_empty, flatten_rows, make_name
from ontoweir.scaffold.read_json_lines import read_json_lines
from ontoweir.scaffold.sniff_csv import Sniffed, sniff_csv
from ontoweir.scaffold.texts.find_preamble import LeftOut
from ontoweir.scaffold.texts.read_cells import CsvForm, read_cells, read_more

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 50_000
"""So many rows are looked at."""
_FURTHER = 600_000
"""So many are where one column is: a year of minutes."""
_FORMATS: Mapping[str, FileFormat] = {**FORMATS, ".tsv": "csv", ".tab": "csv", ".txt": "csv"}
PACKED = (".gz", ".bz2", ".zst")
"""How packed text is called that is read as it is."""
_TIMES = frozenset(("date", "dt", "ds", "day", "year", "month", "week", "hour", "minute"))
"""What folders are called after that are parted by time."""
ODD = frozenset('"\\{}\r\n\t')
"""Characters of names that R2RML's templates, or Turtle, have another use for."""
_PACKED_FORMATS = {
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
    ".avro": "avro",
}
Options: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a table: `name`: for the catalog, of the file's; `rows`: its columns that
    have a type of ours, `types`: which; `left_out`: the others, which are nested; `paths`: by
    column, the names that lead to what is nested; `unnest`: to an array of objects;
    `changes`: of messages that say how a table changes; `outer`: the lines themselves, without the
    array, where these have values of their own; `no_rows`: lines of CSV that are not read; `mqtt`:
    where messages come from, and `received`, the column of when one came; `cells`: how the first
    file of CSV is written."""

    name: str
    path: Path
    format: str
    options: Options
    rows: "pa.Table"
    types: tuple[tuple[str, ColumnType], ...]
    left_out: tuple[str, ...]
    paths: tuple[tuple[str, str], ...] = ()
    unnest: str | None = None
    changes: Changes | None = None
    outer: "Sample | None" = None
    mqtt: Options = ()
    received: str | None = None
    no_rows: LeftOut = field(default_factory=LeftOut)
    cells: tuple[Path, CsvForm] | None = None


def read_further(sample: Sample, names: Sequence[str]) -> "pa.Table":
    """Some columns, of CSV in more rows than the sample has, if these are as its own are."""
    rows = sample.rows.select(list(dict.fromkeys(names)))
    if sample.cells is None or not rows.num_rows:
        return rows
    file, form = sample.cells
    found = read_more(file, form, {f.name: f.type for f in rows.schema})
    return rows if found is None else found


def read_texts(sample: Sample, name: str) -> "pa.ChunkedArray | None":
    """What is written in a column of CSV, in the sample's rows and more (None: it is no CSV, or
    nothing is to be had of it)."""
    import pyarrow as pa

    if sample.cells is None:
        return None
    file, form = sample.cells
    found = read_more(file, form, {name: pa.string()})
    return None if found is None else found.column(name)


def read_sample(path: Path, names: Sequence[str] = ()) -> Sample:
    """The beginning of a file, or of the first one in a folder, or of a pattern of names.

    Args:
        path: CSV with a header, Parquet, JSON lines, Arrow or Avro, by its name; or a folder of
            such, or a pattern; or the folder of a table of Delta or Iceberg.
        names: of the columns of CSV that has none.

    Raises:
        UsageError: there is no such file, or the package that reads it is not installed.
        DataError: it is not what its name says.
    """
    import pyarrow as pa

    packed = _find_packed(path)
    if packed is not None:
        _refuse_names(path, packed, names)
        return _read_packed(path, packed)
    file = _find_file(path)
    form = _FORMATS.get(_suffix(file), "csv")
    _refuse_names(path, form, names)
    try:
        sniffed = sniff_csv(file, names) if form == "csv" else None
        rows = _read(file, form, sniffed)
    except (OSError, UnicodeError, pa.ArrowException, NotPlain) as error:
        raise DataError(
            f"{file} cannot be read: {_cause(error)}",
            why=f"it is read as {form}, by its name",
            fix="rename it, or correct it",
            source=Source(str(file)),
        ) from error
    paths: dict[str, str] = {}
    unnest, outer = None, None
    reader = "json" if form == "jsonl" else form
    changes = find_envelope(rows) if form == "jsonl" else None
    if changes is not None:
        rows, paths = changes.rows, changes.paths
    elif form != "csv":
        lines = rows
        rows, paths, unnest = flatten_rows(lines)
        rows = _read_fractions(rows) if form == "jsonl" else rows
        if unnest is not None:
            outer = _read_lines(lines, unnest, path, reader)
    for name, said in _list_parts(path, rows.column_names).items():
        rows = rows.append_column(name, pa.repeat(pa.scalar(said, pa.string()), rows.num_rows))
    types = [(name, _column_type(rows.schema.field(name).type)) for name in rows.column_names]
    known = _list_known(types)
    options = () if sniffed is None else sniffed.options
    left_out = tuple(name for name, kind in types if (name, kind) not in known)
    rows = rows.select([name for name, _ in known])
    name = name_table(path)
    nested = tuple((n, p) for n, p in paths.items() if n in dict(known))
    place = path.absolute()
    made = Sample(name, place, reader, options, rows, known, left_out, nested, unnest, changes)
    if sniffed is None:
        return replace(made, outer=outer)
    cells = (file, CsvForm(sniffed.names, sniffed.dialect, _FURTHER))
    return replace(made, outer=outer, no_rows=sniffed.left_out, cells=cells)


def _refuse_names(path: Path, form: str, names: Sequence[str]) -> None:
    """Raise UsageError for names of columns of what is no CSV."""
    if names and form != "csv":
        raise UsageError(
            f"--names of {path}, which is {form}",
            why="it names the columns of CSV; other files say what theirs are called",
            fix="leave it out",
            source=Source(str(path)),
        )


def _list_known(
    types: Sequence[tuple[str, ColumnType | None]],
) -> tuple[tuple[str, ColumnType], ...]:
    """Columns of a type that can be declared, and of a name that R2RML's templates can have."""
    return tuple((n, k) for n, k in types if k is not None and not ODD & {*n})


def _list_parts(path: Path, names: Sequence[str]) -> dict[str, str]:
    """What the names of all folders say that files are in, `plant=ulm`, of the first file: but for
    times, which rows have, too, and which go on."""
    from ontoweir.runtime.sources.list_pieces import folder_constants

    if path.is_file():
        return {}
    files = list_files(path)
    said = [folder_constants(str(file)) for file in files]
    lower = {name.lower() for name in names}
    return {
        key: value
        for key, value in said[0].items()
        if value is not None
        and all(key in one for one in said)
        and key.lower() not in lower
        and not (key.lower() in _TIMES or re.fullmatch("[0-9T:./_-]+", value))
    }


def _read_lines(lines: "pa.Table", unnest: str, path: Path, form: str) -> Sample | None:
    """Lines, or rows, without their array (None: each has elements in it, and they have no measured
    values of their own, with fractions). Where the array's elements are rows, such a value would
    count once for each of them, and a line without elements would have no row."""
    rows, paths, _ = flatten_rows(lines, leave=unnest)
    rows = _read_fractions(rows) if form == "json" else rows
    types = [(name, _column_type(rows.schema.field(name).type)) for name in rows.column_names]
    known = _list_known(types)
    measured = any(isinstance(kind, FloatType) for _, kind in known)
    if not measured and not count_empty(lines, unnest):
        return None
    left_out = tuple(name for name, kind in types if (name, kind) not in known)
    nested = tuple((n, p) for n, p in paths.items() if n in dict(known))
    rows = rows.select([name for name, _ in known])
    name = name_table(path)
    return Sample(name, path.absolute(), form, (), rows, known, left_out, nested)


def _read_fractions(rows: "pa.Table") -> "pa.Table":
    """Texts of JSON that are numbers with fractions, as amounts of money are written, as such."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field_ in enumerate(rows.schema):
        if not pa.types.is_string(field_.type):
            continue
        texts = rows.column(place)
        numbers = pc.match_substring_regex(texts, r"^[+-]?[0-9]{1,12}[.][0-9]+$")
        if texts.null_count < len(texts) and pc.all(numbers).as_py():
            column = texts.cast(pa.float64())
            rows = rows.set_column(place, field_.name, column)
    return rows


def _find_packed(path: Path) -> str | None:
    """The format of a file, of the first one in a folder, or of a table that has a log (None: it
    is none of those that packages read)."""
    if (path / "_delta_log").is_dir():
        return "delta"
    if any((path / "metadata").glob("*.metadata.json*")):
        return "iceberg"
    known = list_files(path)
    return _PACKED_FORMATS.get(known[0].suffix.lower()) if known else None


def _read_packed(path: Path, form: str) -> Sample:
    """The beginning of files of Arrow or Avro, or of a table of Delta or Iceberg, whose rows have
    no order."""
    from ontoweir.runtime.located.locate_source import locate_source
    from ontoweir.runtime.packed.read_packed import PACKAGES, is_packed, read_packed

    data = DataSource(form, str(path.absolute()))
    located = locate_source(data, path.name, "")
    if not is_packed(data, located):
        raise UsageError(
            f"{path} is read with {PACKAGES[form]}, which is not installed",
            why="it is optional for ontoweir",
            fix=f"pip install 'ontoweir[{form}]', or pip install {PACKAGES[form]}",
            source=Source(str(path)),
        )
    shape = next(read_packed(data, located, (), deep=True))
    found = next(read_packed(data, located, shape.schema.names, deep=True))
    lines = _without_nanos(next(found.rows, found.schema.empty_table()).slice(0, ROWS))
    rows, paths, unnest = flatten_rows(lines)
    outer = None if unnest is None else _read_lines(lines, unnest, path, form)
    types = [(name, _column_type(rows.schema.field(name).type)) for name in rows.column_names]
    known = _list_known(types)
    left_out = (*found.nested, *(name for name, kind in types if (name, kind) not in known))
    name = name_table(path)
    rows = rows.select([name for name, _ in known])
    nested = tuple((n, p) for n, p in paths.items() if n in dict(known))
    place = path.absolute()
    return Sample(name, place, form, (), rows, known, left_out, nested, unnest, outer=outer)


def list_files(path: Path) -> Sequence[Path]:
    """The files of data in a folder, of a pattern of names, or the file itself."""
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file())
    elif path.exists():
        inside = [path]
    else:
        inside = sorted(map(Path, glob.glob(str(path), recursive=True)))
    return [p for p in inside if form_of(p) and not p.name.startswith((".", "_"))]


def is_sql(file: str) -> bool:
    """Whether a file is of SQL by its name."""
    return file.lower().endswith((".sql", ".ddl", ".psql", ".pgsql"))


def form_of(file: Path) -> str:
    """The format that a file's name says (empty: none)."""
    return _FORMATS.get(_suffix(file)) or _PACKED_FORMATS.get(file.suffix.lower(), "")


def name_table(path: Path) -> str:
    """What a table is called: as its file, without what files of one pattern differ in."""
    before, star, _ = path.name.replace("[0-9]*", "*").partition("*")
    stem = path.name.partition(".")[0]
    return make_name((before.rstrip("0123456789-_ .[") or path.parent.name) if star else stem)


def _find_file(path: Path) -> Path:
    if _suffix(path) == ".log" and path.is_file():  # in a folder it is about its files, perhaps
        return path
    known = list_files(path)
    files = [p for p in known if _suffix(p) in _FORMATS]
    if not files:
        there = path.exists()
        raise UsageError(
            "it is no file of data" if there else f"there is no {path}",
            why="tables are files called .csv, .tsv, .txt, .parquet, .jsonl, .arrow or .avro, "
            "folders of such, or of Delta or Iceberg; text may be packed as .gz, .bz2 or .zst; "
            "or points in InfluxDB's line protocol, requests as Apache and nginx log them, or "
            "columns parted by blanks below their names",
            fix="save it as .xlsx, or its sheets as CSV, and name that"
            if path.suffix.lower() in (".xls", ".xlsb", ".ods")
            else "name such a file",
            source=Source(str(path)),
        )
    return files[0]


def _suffix(file: Path) -> str:
    """The ending of a file's name that says its format, without that of a packer."""
    suffix = file.suffix.lower()
    return Path(file.stem).suffix.lower() if suffix in PACKED else suffix


def _cause(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it has bytes that are no text, in UTF-8 or Windows-1252"
    return next(iter(str(error).splitlines()), "it is not written as such files are")


def _read(file: Path, form: FileFormat, sniffed: Sniffed | None) -> "pa.Table":
    import pyarrow.parquet as pq

    match form:
        case "csv":
            assert sniffed is not None
            return _without_nanos(read_cells(file, CsvForm(sniffed.names, sniffed.dialect, ROWS)))
        case "jsonl":
            return read_json_lines(file, ROWS)
        case _:
            with pq.ParquetFile(file) as opened:
                if not opened.metadata.num_row_groups:
                    return opened.schema_arrow.empty_table()
                return _without_nanos(opened.read_row_group(0).slice(0, ROWS))


def _without_nanos(rows: "pa.Table") -> "pa.Table":
    """Times to the microsecond, which is the least that Python's have."""
    import pyarrow as pa

    for place, one in enumerate(rows.schema):
        if pa.types.is_timestamp(one.type) and one.type.unit == "ns":
            column = rows.column(place).cast(pa.timestamp("us", one.type.tz), safe=False)
            rows = rows.set_column(place, one.name, column)
    return rows


def _column_type(kind: "pa.DataType") -> ColumnType | None:
    """The type to declare (None: there is none)."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_decimal(kind):
        return DecimalType(kind.precision, kind.scale) if kind.precision <= 38 else None
    tests: tuple[tuple[bool, ColumnType], ...] = (
        (pa.types.is_integer(kind), IntType()),
        (pa.types.is_floating(kind), FloatType()),
        (pa.types.is_boolean(kind), BooleanType()),
        (pa.types.is_date(kind), DateType()),
        (pa.types.is_timestamp(kind), TimestampType()),
        (pa.types.is_string(kind) or pa.types.is_large_string(kind), StringType()),
        (pa.types.is_null(kind), StringType()),
    )
    return next((made for holds, made in tests if holds), None)
