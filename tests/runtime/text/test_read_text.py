"""CSV is read without Spark as Spark reads it, or left to it."""

import bz2
import gzip
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import (
    Column,
    ColumnType,
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.sources.read_source import BAD, WantedColumns, read_source
from ontoweir.runtime.text import open_packed
from ontoweir.runtime.text.convert_text import NotPlain, convert_text
from ontoweir.runtime.text.read_csv import open_csv
from ontoweir.runtime.text.read_text import read_text_rows
from tests.runtime.csv_files import COLUMNS, make_dialect, make_file

HEADER = (("header", "true"),)
PLAIN = (Column("a", StringType()), Column("n", IntType()), Column("x", FloatType()))


def _read(file: Path, options: tuple[tuple[str, str], ...] = HEADER) -> list[tuple[Any, ...]]:
    tables = list(read_text_rows(DataSource("csv", str(file), options), str(file), PLAIN, None))
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


READ = {
    "a,n,x\np,1,2.5\n": [("p", 1, 2.5, None)],
    "\ufeffx,a,n\r\n2.5,p,1\r\n": [("p", 1, 2.5, None)],
    '"n","a",x\n1,"p,q",2\n2,"",3': [("p,q", 1, 2.0, None), (None, 2, 3.0, None)],
    "a,n,x\n p , 1 ,+2\n": [(" p ", 1, 2.0, None)],
    "a,n,x\np\n\n  \np,1,2,3,4\n": [("p", None, None, None), ("p", 1, 2.0, None)],
    "a,n,x\np,one,2\np,1.0,y\np,0x1,1e3": [
        ("p", None, 2.0, "n"),
        ("p", None, None, "n"),
        ("p", None, 1000.0, "n"),
    ],
    "a,n,x,y,Y\np,1,2,3,4\n": [("p", 1, 2.0, None)],
    ",a,n,x,\n0,p,1,2,3\n": [("p", 1, 2.0, None)],
    "a,n,x\n": [],
    "\na,n,x\n": None,
    'a,n,x\n"p""q",1,2\n': None,
    'a,n,x\np"q,1,2\n': None,
    'a,n,x\n"p\nq",1,2\n': None,
    'a,n,x\n"p\\q",1,2\n': [("p\\q", 1, 2.0, None)],
    'a,n,x\n"p" ,1,2\n': None,
    "a,n,x\rp,1,2\r": None,
    "a,n,x\np\0,1,2\n": None,
    "a,n,x\np,1,0x1p3\n": None,
}


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,n,x,A", ("a0", "n", "x", "A3")),
        ("a,n,", ("a", "n", "_c2")),
        (",a,,A,b", ("_c0", "a1", "_c2", "A3", "b")),
        ("a,NULL,b", ("a", "_c1", "b")),
        ("a,a2,b,A", ("a0", "a2", "b", "A3")),
    ],
)
def test_names_as_spark_was_seen_to_give_them(
    header: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(header + "\n")
    data = DataSource("csv", "", (*HEADER, ("nullValue", "NULL")))
    assert open_csv(data, str(tmp_path / "a.csv")).names == names


def test_a_name_that_is_made_and_given(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,_c2,\n")
    with pytest.raises(NotPlain):
        open_csv(DataSource("csv", "", HEADER), str(tmp_path / "a.csv"))


COMMAS = (*HEADER, ("sep", ";"), ("decimal", ","))


@pytest.mark.parametrize(
    ("cell", "double", "decimal"),
    [
        ("3,5", 3.5, "3.50"),
        ("-0,25", -0.25, "-0.25"),
        ("1,5e1", 15.0, "15.00"),
        ("7", 7.0, "7.00"),
        ('"2,5"', 2.5, "2.50"),
        ("3.5", None, None),
        ("1.234,5", None, None),
        ("1,2,3", None, None),
    ],
)
@pytest.mark.parametrize("beside", ["1,5", "one"])
def test_decimal_commas(
    tmp_path: Path, cell: str, double: float | None, decimal: str | None, beside: str
) -> None:
    """Whether Arrow reads all of a block at once, or a value beside it is read by its text."""
    file = tmp_path / "a.csv"
    file.write_text(f"x;d;s\n{cell};{cell};a.b,c\n{beside};{beside};3,5\n")
    columns = (
        Column("x", FloatType()),
        Column("d", DecimalType(6, 2)),
        Column("s", StringType()),
    )
    tables = list(read_text_rows(DataSource("csv", str(file), COMMAS), str(file), columns, None))
    first, second = (r for t in tables for r in t.to_pylist())
    assert (first["x"], first["d"]) == (double, None if decimal is None else Decimal(decimal))
    assert (first["BAD"] if "BAD" in first else first[BAD]) == (None if decimal else "x")
    assert (first["s"], second["s"]) == ("a.b,c", "3,5")
    assert second["x"] == (1.5 if beside == "1,5" else None)


THOUSANDS = (*COMMAS, ("thousands", "."), ("nullValue", "n/a"), ("nullValues", "---|k. A."))


@pytest.mark.parametrize(
    ("cell", "double", "whole"),
    [
        ("1.234,5", 1234.5, "x"),
        ("-1.234.567", -1234567.0, -1234567),
        ('"12.345"', 12345.0, 12345),
        ("123", 123.0, 123),
        ("3,5", 3.5, "x"),
        ("1.23", "x", "x"),
        ("1.2345", "x", "x"),
        ("1234.567", "x", "x"),
        (".123", "x", "x"),
        ("1,234.5", "x", "x"),
        ("---", None, None),
        ('"k. A."', None, None),
        ("n/a", None, None),
        ("", None, None),
        ("--", "x", "x"),
    ],
)
def test_marks_between_thousands(tmp_path: Path, cell: str, double: object, whole: object) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"x;n;s\n{cell};{cell};1.234\n7;7;---\n")
    columns = (Column("x", FloatType()), Column("n", IntType()), Column("s", StringType()))
    tables = list(read_text_rows(DataSource("csv", str(file), THOUSANDS), str(file), columns, None))
    first, second = (r for t in tables for r in t.to_pylist())
    wrong = "x" if double == "x" else "n" if whole == "x" else None
    assert first[BAD] == wrong
    assert first["x"] == (None if double == "x" else double)
    assert first["n"] == (None if whole == "x" else whole)
    assert (first["s"], second["s"], second["n"]) == ("1.234", None, 7)  # texts are left alone


@pytest.mark.parametrize(
    ("cell", "double", "whole"),
    [
        ("1.234,5 kWh", 1234.5, "x"),
        ("-7%", -7.0, -7),
        (" 7 % ", 7.0, 7),
        ("12", 12.0, 12),
        ("12 m", "x", "x"),
        ("12 m3", 12.0, 12),
        ("%", "x", "x"),
        ("kWh", "x", "x"),
        ("7%%", "x", "x"),
        ("1e3%", 1000.0, "x"),
        ("7 kWhs", "x", "x"),
        ("", None, None),
    ],
)
def test_units_behind_numbers(tmp_path: Path, cell: str, double: object, whole: object) -> None:
    options = (*COMMAS, ("thousands", "."), ("units", "%|kWh|m3"))
    file = tmp_path / "a.csv"
    file.write_text(f"x;n;s\n{cell};{cell};5 %\n7;7;x\n")
    columns = (Column("x", FloatType()), Column("n", IntType()), Column("s", StringType()))
    tables = list(read_text_rows(DataSource("csv", str(file), options), str(file), columns, None))
    first, _ = (r for t in tables for r in t.to_pylist())
    assert first[BAD] == ("x" if double == "x" else "n" if whole == "x" else None)
    assert first["x"] == (None if double == "x" else double)
    assert first["n"] == (None if whole == "x" else whole)
    assert first["s"] == "5 %"  # texts are left alone


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("decimal", "mark"), [(",", "."), (".", ","), (".", "'"), (",", "\u00a0")])
def test_numbers_as_countries_write_them(
    tmp_path: Path, seed: int, decimal: str, mark: str
) -> None:
    """Random numbers, written by Python's format, are read as what they were."""
    random = Random(seed)
    numbers = [round(random.uniform(-1, 1) * 10 ** random.randint(0, 9), 2) for _ in range(200)]
    shown = [f"{n:,.2f}".translate({44: mark, 46: decimal}) for n in numbers]
    file = tmp_path / "a.csv"
    file.write_text("x|d\n" + "".join(f"{text}|{text}\n" for text in shown), encoding="utf-8")
    options = (*HEADER, ("sep", "|"), ("decimal", decimal), ("thousands", mark))
    columns = (Column("x", FloatType()), Column("d", DecimalType(12, 2)))
    tables = read_text_rows(DataSource("csv", str(file), options), str(file), columns, None)
    rows = [r for t in tables for r in t.to_pylist()]
    assert [r["x"] for r in rows] == numbers
    assert [r["d"] for r in rows] == [Decimal(f"{n:.2f}") for n in numbers]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("thousands", "'"), "whose numbers have marks between thousands"),
        (("decimal", ","), "whose numbers have a decimal comma"),
        (("nullValues", "-|?"), "in which several texts are NULL"),
        (("units", "%"), "whose numbers have units behind them"),
        (("names", "a|n|x"), "whose columns are named in its options"),
        (("skip", "00"), "with lines before it"),
        (("skipAfterHeader", "00"), "with lines below its header"),
    ],
)
def test_other_options_of_ours_are_not_left_to_spark(
    tmp_path: Path, option: tuple[str, str], said: str
) -> None:
    file = tmp_path / "a.csv"
    file.write_text('a,n,x\np"q,1,2\n')
    with pytest.raises(DataError, match=f"Spark is to read CSV {said}"):
        _read(file, (*HEADER, option))
    file.write_text("a,n,x\np,1,2\n")
    assert _read(file, (*HEADER, option)) == [("p", 1, 2.0, None)]


@pytest.mark.parametrize("header", ["true", "false"])
def test_names_in_the_place_of_those_in_a_file(tmp_path: Path, header: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(("y\\y,n,N\n" if header == "true" else "") + "p,1, ? \nq, ?,2\n")
    options = (("header", header), ("names", "a|n|x"), ("nullValues", "?"))
    assert _read(file, options) == [("p", 1, None, None), ("q", None, 2.0, None)]


PREAMBLES = {
    "Site 4\n\na,n,x\ns,,bar\np,1,2\n": (*HEADER, ("skip", "2"), ("skipAfterHeader", "1")),
    "# by a logger\n#\na,n,x\np,1,2\n# later\n": (*HEADER, ("comment", "#")),
    "title\n#\na,n,x\n#\n#p,5,5\np,1,2": (*HEADER, ("comment", "#"), ("skip", "1")),
    "title\np,1,2\n": (("names", "a|n|x"), ("skip", "1")),
    "#a,n,x\ns,,bar\np,1,2\n": (*HEADER, ("names", "a|n|x"), ("skipAfterHeader", "1")),
}


@pytest.mark.parametrize("text", PREAMBLES)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_that_are_no_rows(tmp_path: Path, text: str, ends: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", ends).encode())
    assert _read(file, PREAMBLES[text]) == [("p", 1, 2.0, None)]


@pytest.mark.parametrize("size", [8, 1 << 20])
@pytest.mark.parametrize("text", [*PREAMBLES, "# none\na,n,x", "t\na,n,x\ns,,bar", "t\na,n,x\n"])
def test_what_is_before_rows_may_end_in_any_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, size: int
) -> None:
    monkeypatch.setattr(open_packed, "BLOCK", size)
    options = PREAMBLES.get(text, (*HEADER, ("skip", "1"), ("skipAfterHeader", "1")))
    (tmp_path / "a.csv").write_text(text)
    assert _read(tmp_path / "a.csv", options) == (
        [("p", 1, 2.0, None)] if text in PREAMBLES else []
    )


def test_comments_in_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_packed, "BLOCK", 32)
    lines = [f"# {n}" if n % 3 == 1 else f"p,{n},2" for n in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["a,n,x", *lines]))
    rows = _read(tmp_path / "a.csv", (*HEADER, ("comment", "#")))
    assert [n for _, n, _, _ in rows] == [n for n in range(60) if n % 3 != 1]


def test_lines_that_begin_like_comments_within_cells_are_left_to_spark(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,n,x\n"p\n#q",1,2\n')
    with pytest.raises(NotPlain):
        _read(tmp_path / "a.csv", (*RFC, ("comment", "#")))


@pytest.mark.parametrize("name", ["skip", "skipAfterHeader"])
@pytest.mark.parametrize("text", ["-1", "two", "12345"])
def test_what_is_no_number_of_lines(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "a.csv").write_text("a,n,x\np,1,2\n")
    with pytest.raises(DataError, match=f"{name} = '{text}' is no number of lines"):
        _read(tmp_path / "a.csv", (*HEADER, (name, text)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*HEADER, ("comment", "##")), "comment = '##' is no mark of comments"),
        ((*HEADER, ("comment", ",")), "comment = ',' is no mark of comments"),
        ((("skipAfterHeader", "1"),), "skipAfterHeader is of CSV with a header"),
        ((*HEADER, ("skip", "7")), "a.csv:8: after 7 lines comes an empty one, or none"),
    ],
)
def test_lines_that_cannot_be_left_out(
    tmp_path: Path, options: tuple[tuple[str, str], ...], said: str
) -> None:
    (tmp_path / "a.csv").write_text("a,n,x\np,1,2\n")
    with pytest.raises(DataError, match=said) as raised:
        _read(tmp_path / "a.csv", options)
    assert "Spark" not in str(raised.value)


def test_one_mark_for_two_things(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,n,x\np,1,2\n")
    with pytest.raises(DataError, match="thousands and decimal are the same mark"):
        _read(tmp_path / "a.csv", (*HEADER, ("thousands", ".")))


def test_decimal_commas_are_not_left_to_spark(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('a;n;x\np"q;1;2,5\n')
    with pytest.raises(DataError, match="Spark is to read CSV whose numbers have a decimal comma"):
        _read(file, COMMAS)
    file.write_text("a;n;x\np\0;1;2,5\n")  # as loggers leave it that lose power
    with pytest.raises(DataError, match="NUL"):
        _read(file, COMMAS)
    file.write_text("a;n;x\np;1;2,5\n")
    assert _read(file, COMMAS) == [("p", 1, 2.5, None)]


@pytest.mark.parametrize("text", READ)
def test_what_is_read_and_what_is_left(text: str, tmp_path: Path) -> None:
    """As Spark was seen to read it (None: only Spark is certain)."""
    wanted = READ[text]
    for name, pack in (("a.csv", bytes), ("a.csv.gz", gzip.compress), ("a.csv.bz2", bz2.compress)):
        (tmp_path / name).write_bytes(pack(text.encode()))
        if wanted is None:
            with pytest.raises(NotPlain):
                _read(tmp_path / name)
        else:
            assert _read(tmp_path / name) == wanted


@pytest.mark.parametrize(
    "option",
    [
        *(("sep", "||"), ("sep", '"'), ("escape", "!"), ("quote", ""), ("mode", "FAILFAST")),
        *(("encoding", "UTF-16"), ("comment", "c"), ("ignoreLeadingWhiteSpace", "true")),
        *(("nullValue", ","), ("lineSep", "|"), ("inferSchema", "true"), ("header", "perhaps")),
    ],
)
def test_options_are_left_to_spark(option: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,n,x\np,1,2\n")
    with pytest.raises(NotPlain):
        _read(tmp_path / "a.csv", tuple({**dict(HEADER), option[0]: option[1]}.items()))


RFC = (*HEADER, ("escape", '"'), ("multiLine", "true"))
DIALECTS: list[tuple[tuple[tuple[str, str], ...], str, list[tuple[Any, ...]] | None]] = [
    (RFC, 'a,n,x\n"p""q\n""",1,2\n"""",,\n', [('p"q\n"', 1, 2.0, None), ('"', *[None] * 3)]),
    (RFC, 'a,n,x\n"p\n",1\nq\n', [("p\n", 1, None, None), ("q", *[None] * 3)]),
    (RFC, 'a,n,x\r\n"p\r\n",1,2\r\n', [("p\n", 1, 2.0, None)]),
    (RFC, 'a,n,x\n"p\r\n",1,2\n', None),
    (RFC, 'a,n,x\n"p""q,1,2\n', None),
    (HEADER, 'a,n,x\n"p\\"\\\\q",1,2\n', [('p"\\q', 1, 2.0, None)]),
    (HEADER, 'a,n,x\n"p\\nq",1,2\n', [("p\\nq", 1, 2.0, None)]),
    ((*HEADER, ("nullValue", "NA")), 'n,x,a\n"1","2",', [(None, 1, 2.0, None)]),
    ((*HEADER, ("nullValue", "NA")), "a,n,x\nNA,NA,\n", [(None, None, None, None)]),
    ((*HEADER, ("nullValue", "NA")), 'a,n,x\n"","NA",2\n', [("", None, 2.0, None)]),
    ((*HEADER, ("encoding", "ISO-8859-1")), "a,n,x\n\u00ff,1,2\n", [("Ã¿", 1, 2.0, None)]),
    ((*HEADER, ("quote", "'")), "a,n,x\n'p,\"',1,2\n", [('p,"', 1, 2.0, None)]),
]


@pytest.mark.parametrize(("options", "text", "wanted"), DIALECTS)
def test_dialects(
    options: tuple[tuple[str, str], ...],
    text: str,
    wanted: list[tuple[Any, ...]] | None,
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.csv"
    file.write_text(text, newline="")
    if wanted is None:
        with pytest.raises(NotPlain):
            _read(file, options)
    else:
        assert _read(file, options) == wanted


def test_rows_of_quoted_cells_are_cut_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("a,n,x\n" + '"p\n""q\n",1,2\n\n"r",2,3,4\n' * 9)
    whole = _read(tmp_path / "a.csv", RFC)
    assert whole == [('p\n"q\n', 1, 2.0, None), ("r", 2, 3.0, None)] * 9
    for size in (30, 7, 2, 1):
        monkeypatch.setattr(open_packed, "BLOCK", size)
        assert _read(tmp_path / "a.csv", RFC) == whole


@pytest.mark.parametrize("mark", [";", "|", "\\t", "\t", "^", "]", "-"])
def test_separators(mark: str, tmp_path: Path) -> None:
    between = "\t" if mark == "\\t" else mark
    lines = (("a", "n", "x"), (f'"p{between}q"', "1", "2.5"), ("p", "7"), ("\t", "\t"))
    (tmp_path / "a.csv").write_text("\n".join(between.join(line) for line in lines))
    wanted: list[tuple[Any, ...]] = [(f"p{between}q", 1, 2.5, None), ("p", 7, None, None)]
    if between != "\t":  # a line of blanks alone is none
        wanted.append(("\t", None, None, "n"))
    assert _read(tmp_path / "a.csv", (*HEADER, ("delimiter", mark))) == wanted


def test_a_cut_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(b"a,n,x\n" + b"p,1,2\n" * 999)[:-9])
    with pytest.raises(DataError) as error:
        _read(file)
    assert str(error.value.source) == str(file)


def test_blocks_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ['"p, q",1,2\r', "p,2,2.5", "", "x", "r,3,inf"] * 9
    (tmp_path / "a.csv").write_text("\n".join(["a,n,x", *lines]))
    whole = _read(tmp_path / "a.csv")
    assert len(whole) == 36
    for size in (30, 7, 2, 1):
        monkeypatch.setattr(open_packed, "BLOCK", size)
        assert _read(tmp_path / "a.csv") == whole
    monkeypatch.setattr(open_packed, "LONGEST", 5)
    with pytest.raises(NotPlain):
        _read(tmp_path / "a.csv")


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """A row that is rejected by what it is rejected for; NaN is NaN."""
    return [{n: repr(row[n]) for n in (row if row[BAD] is None else (BAD,))} for row in rows]


@pytest.mark.spark
def test_random_files(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What is not left to Spark is what Spark reads, to the row and to the reject."""
    home = spark.newSession()
    home.conf.set("spark.sql.session.timeZone", "UTC")
    random, files = Random(7), {}
    for number in range(3000 if request.config.getoption("--long") else 120):
        file = tmp_path / f"{number}.csv"
        file.write_bytes(make_file(random))
        data = DataSource("csv", str(file), HEADER)
        try:
            tables = list(read_text_rows(data, str(file), COLUMNS, "ts"))
        except NotPlain:
            continue
        files[str(file)] = [row for table in tables for row in table.to_pylist()]
    assert len(files) > 50
    data = DataSource("csv", str(tmp_path), HEADER)
    path = fn.col("_metadata.file_path").alias("__path")
    frame = read_source(
        home, data, str(tmp_path), WantedColumns(COLUMNS, "ts", keep=[path]), list(files)
    )
    found = defaultdict(list)
    for row in frame.toArrow().to_pylist():
        found[local_path(row.pop("__path"))].append(row)
    for name, rows in files.items():
        assert _shown(rows) == _shown(found[name]), name


@pytest.mark.spark
def test_random_dialects(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Whatever is written as the options say is read, and as Spark reads it."""
    random, read = Random(8), 0
    count = 1500 if request.config.getoption("--long") else 60
    for number in range(count):
        file = tmp_path / f"{number}.csv"
        options, raw = make_dialect(random)
        file.write_bytes(raw)
        names = "anxb" if ("header", "true") in options else ("_c0", "_c1", "_c2", "_c3")
        kinds: tuple[ColumnType, ...] = (StringType(), IntType(), FloatType(), StringType())
        columns = [Column(name, kind) for name, kind in zip(names, kinds, strict=True)]
        data = DataSource("csv", str(file), options)
        try:
            tables = list(read_text_rows(data, str(file), columns, None))
        except NotPlain:
            continue
        read += 1
        mine = [row for table in tables for row in table.to_pylist()]
        theirs = read_source(spark, data, str(file), WantedColumns(columns)).toArrow()
        assert _shown(mine) == _shown(theirs.to_pylist()), (options, raw)
    assert read > count * 0.7


def test_zones_lead_beyond_the_years() -> None:
    texts = ["2024-01-01 00:00:00", "9999-12-31 23:59:59-10:00", "0001-01-01 00:00:00+10:00", None]
    found, bad = convert_text(pa.chunked_array([texts]), TimestampType())
    assert [v is not None for v in found.to_pylist()] == [True, False, False, False]
    assert bad is not None
    assert bad.tolist() == [False, True, True, False]


@pytest.mark.parametrize(("precision", "scale"), [(38, 10), (28, 10), (6, 2), (38, 0), (38, 38)])
def test_decimals_that_have_no_room(precision: int, scale: int) -> None:
    """Arrow's own cast would take some of them for other numbers."""
    texts = ["9" * n for n in range(1, 41)] + ["1e27", "1e30", "-1e37", "9e76", "1e-9", "0.99"]
    units = [Fraction(text) * 10**scale for text in texts]
    fits = [abs(n) < 10**precision and n.denominator == 1 for n in units]
    wanted = [Decimal(t) if fit else None for t, fit in zip(texts, fits, strict=True)]
    found = []
    for text in texts:  # alone, so that none decides how the others are read
        values, _ = convert_text(pa.chunked_array([[text]]), DecimalType(precision, scale))
        found += values.to_pylist()
    assert found == wanted


def test_nothing_is_nothing_in_any_power() -> None:
    found, bad = convert_text(pa.chunked_array([["0e99999", "-0E-7", "1e5"]]), DecimalType(6, 2))
    assert found.to_pylist() == [Decimal(0), Decimal(0), None]
    assert bad is not None
    assert bad.tolist() == [False, False, True]
