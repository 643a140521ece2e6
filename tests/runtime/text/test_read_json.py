"""JSON lines are read without Spark as Spark reads them, or left to it."""

import gzip
from collections import defaultdict
from collections.abc import Callable
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
    DataSource,
    DecimalType,
    FloatType,
    IntType,
    StringType,
)
from ontoweir.runtime.located.data_files import local_path
from ontoweir.runtime.sources.read_source import BAD, WantedColumns, read_source
from ontoweir.runtime.text import open_packed
from ontoweir.runtime.text import read_json as reader
from ontoweir.runtime.text.convert_text import NotPlain
from ontoweir.runtime.text.quote_values import quote_values
from ontoweir.runtime.text.read_json import CORRUPT
from ontoweir.runtime.text.read_text import read_text_rows
from tests.runtime.json_files import COLUMNS, RARE, make_lines

PLAIN = (Column("a", StringType()), Column("n", IntType()), Column("x", FloatType()))


def _read(file: Path, options: tuple[tuple[str, str], ...] = ()) -> list[tuple[Any, ...]]:
    tables = list(read_text_rows(DataSource("json", str(file), options), str(file), PLAIN, None))
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


READ: dict[str, list[tuple[Any, ...]]] = {
    "": [],
    " \n\n": [],
    '{"a":"p","n":1,"x":2.5}\n': [("p", 1, 2.5, None, None)],
    '{"n":"1","x":"2.5"}\r\n\n{"a":1.50}': [(None, 1, 2.5, None, None), ("1.50", *[None] * 4)],
    '{"a": {"b" : "\\u00e9"} , "n":1.0, "c":[1]}': [('{"b" : "\\u00e9"}', None, None, "n", None)],
    '{"n":1}\n{"n":\n{"n":2}}': [
        (None, 1, None, None, None),
        (None, None, None, None, '{"n":'),
        (None, 2, None, None, None),
    ],
    '\ufeff{"n":1,"n":2}': [(None, 2, None, None, None)],
    '{"c":Inf,"n":1}': [(None, None, None, None, '{"c":Inf,"n":1}')],
    '{"c":"Inf","x":NaN,"n":9223372036854775808}': [
        (None, None, pytest.approx(float("nan"), nan_ok=True), "n", None)
    ],
}


@pytest.mark.parametrize("text", READ)
def test_what_is_read(text: str, tmp_path: Path) -> None:
    """As Spark was seen to read it."""
    packs: dict[str, Callable[[bytes], bytes]] = {
        "a.json": bytes,
        "a.json.gz": gzip.compress,
        "a.json.zst": lambda raw: pa.compress(raw, "zstd", asbytes=True),
    }
    for name, pack in packs.items():
        (tmp_path / name).write_bytes(pack(text.encode()))
        assert _read(tmp_path / name) == READ[text]


@pytest.mark.parametrize("line", RARE)
def test_what_is_left(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"n":1}\n' + line)
    with pytest.raises(NotPlain):
        _read(tmp_path / "a.json")


@pytest.mark.parametrize(
    "option", [("multiLine", "true"), ("allowComments", "true"), ("mode", "FAILFAST")]
)
def test_options_are_left_to_spark(option: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"n":1}\n')
    with pytest.raises(NotPlain):
        _read(tmp_path / "a.json", (option,))
    for said in (("multiLine", "false"), ("maxFilesPerTrigger", "4")):  # of live runs alone
        assert _read(tmp_path / "a.json", (said,)) == [(None, 1, None, None, None)]


def test_a_cut_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(b'{"n":1}\n' * 999)[:-9])
    with pytest.raises(DataError) as error:
        _read(file)
    assert str(error.value.source) == str(file)


def test_blocks_and_parts_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ['{"a":"p, q","n":1}\r', '{"n":"2"}', "", '{"n":3', ' {"a":{"n":4}} ', "x"] * 9
    (tmp_path / "a.json").write_text("\n".join(lines))
    whole = _read(tmp_path / "a.json")
    assert len(whole) == 45
    for size in (30, 7, 2, 1):
        monkeypatch.setattr(open_packed, "BLOCK", size)
        assert _read(tmp_path / "a.json") == whole
        monkeypatch.setattr(open_packed, "PART", size)
        assert _read(tmp_path / "a.json") == whole


def test_no_line_of_valid_objects_is_parsed_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the types of their values, but for members of one name."""
    monkeypatch.setattr(reader, "parse_line", None)
    lines = ['{"a":[1,{"b":"}\\"\\\\"}],"n":"1"}', '{"a":true,"n":1e0}', '{"n":null,"x":{}}', "{}"]
    (tmp_path / "a.json").write_text("\n".join(lines * 9))
    assert _read(tmp_path / "a.json")[:4] == [
        ('[1,{"b":"}\\"\\\\"}]', 1, None, None, None),
        ("true", None, None, "n", None),
        (None, None, None, "x", None),
        (None, None, None, None, None),
    ]


@pytest.mark.parametrize(("precision", "scale"), [(38, 10), (28, 10), (6, 2), (38, 0), (38, 38)])
def test_decimals_that_have_no_room(precision: int, scale: int, tmp_path: Path) -> None:
    """Arrow's own conversion would take some of them for other numbers."""
    texts = ["9" * n for n in range(1, 41)] + ["1e27", "1e30", "-1e37", "1e-9", "0.99", "1e38"]
    columns = [Column("p", DecimalType(precision, scale))]
    data = DataSource("json", str(tmp_path / "a.json"))
    found = []
    for one in texts:  # alone, so that none decides how the others are read
        (tmp_path / "a.json").write_text(f'{{"p": {one}}}')
        (table,) = read_text_rows(data, data.path or "", columns, None)
        found += table.column("p").to_pylist()
    units = [Fraction(text) * 10**scale for text in texts]
    fits = [abs(n) < 10**precision and n.denominator == 1 for n in units]
    wanted = [Decimal(t) if fit else None for t, fit in zip(texts, fits, strict=True)]
    assert found == wanted


def test_values_are_quoted_where_they_are() -> None:
    text = b'{"a\\"":1 ,"b": [ "x\\\\", {"c":2}] ,"d":null,"e":"\\\\"}\n{}\n{"f":-1.0}'
    wanted = b'{"a\\"":"1" ,"b": '
    wanted += b'"[ \\"x\\\\\\\\\\", {\\"c\\":2}]" ,"d":null,"e":"\\\\"}\n{}\n{"f":"-1.0"}'
    assert quote_values(text) == wanted


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """A row that is rejected by what it is rejected for; NaN is NaN; of a corrupt line, that."""
    wrong = [next((m for m in (CORRUPT, BAD) if row[m] is not None), None) for row in rows]
    return [
        {
            n: "" if n == CORRUPT and row[n] is not None else repr(row[n])
            for n in ([w] if w else row)
        }
        for row, w in zip(rows, wrong, strict=True)
    ]


@pytest.mark.spark
def test_random_files(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What is not left to Spark is what Spark reads, to the row and to the reject."""
    home = spark.newSession()
    home.conf.set("spark.sql.session.timeZone", "UTC")
    random, files = Random(7), {}
    for number in range(5000 if request.config.getoption("--long") else 300):
        file = tmp_path / f"{number}.json"
        file.write_bytes(make_lines(random))
        data = DataSource("json", str(file))
        try:
            tables = list(read_text_rows(data, str(file), COLUMNS, "ts"))
        except NotPlain:
            continue
        files[str(file)] = [row for table in tables for row in table.to_pylist()]
    assert len(files) > 100
    path = fn.col("_metadata.file_path").alias("__path")
    corrupt = fn.col(CORRUPT).cast("binary").isNotNull()  # which may not be UTF-8
    corrupt = fn.when(corrupt, fn.lit("corrupt")).alias(CORRUPT)
    wanted = WantedColumns(COLUMNS, "ts", keep=[path, corrupt], corrupt=CORRUPT)
    frame = read_source(home, DataSource("json", str(tmp_path)), str(tmp_path), wanted, list(files))
    found = defaultdict(list)
    for row in frame.toArrow().to_pylist():
        found[local_path(row.pop("__path"))].append(row)
    for name, rows in files.items():
        assert _shown(rows) == _shown(found[name]), Path(name).read_bytes()
