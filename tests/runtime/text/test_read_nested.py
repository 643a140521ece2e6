"""Members by path, and a row for each element: against a plain reading, and replayed."""

import json
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pyarrow.parquet as pq
import pytest

from ontoweir.errors import CatalogError, DataError
from ontoweir.mappings.model.catalog import Column, DataSource, IntType, Stream, StringType
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.sources.read_source import refuse_written
from ontoweir.runtime.text.read_json import CORRUPT
from ontoweir.runtime.text.read_nested import read_nested
from tests.runtime.harness import make_catalog, make_sql_job

TOML = """\
[streams.S]
source = { format = "json", path = "s.jsonl", unnest = "data.values" }
timestamp = { column = "ts", unit = "1 second", format = "epoch_s", from = ["meta.time"] }
[streams.S.columns]
device = { type = "int", from = "device.id" }
kind = { type = "string", from = "data.values.kind" }
value = { type = "int", from = "data.values.v", min = 0, max = 9 }
"""


def _draw(random: Random, second: int) -> dict[str, Any]:
    values = [
        {k: v for k, v in (("kind", random.choice("ab")), ("v", random.randint(-1, 12))) if v != 12}
        for _ in range(random.randint(0, 3))
    ]
    device: Any = random.choice([{"id": random.randint(0, 3)}, {}, 7, None])
    line: dict[str, Any] = {"device": device, "meta": {"time": second}, "data": {"values": values}}
    if random.random() < 0.1:
        line["data"] = random.choice([{}, None, 5])
    return line


@pytest.mark.parametrize("seed", range(10))
def test_a_replay_of_what_devices_send(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    lines = [_draw(random, 1_767_225_600 + n // 2) for n in range(200)]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    wanted = []
    for line in lines:
        held = line["device"]
        device = held.get("id") if isinstance(held, dict) else None
        data = line["data"]
        values = data.get("values", []) if isinstance(data, dict) else []
        for element in values:
            value = element.get("v")
            if device is not None and value is not None and 0 <= value <= 9:
                wanted.append((device, element["kind"], value))
    job = make_sql_job("SELECT device, kind, value FROM S", make_catalog(tmp_path, TOML))
    output = tmp_path / "out.parquet"

    def never() -> NoReturn:
        raise AssertionError("Spark is not needed")

    replay_history(job, ReplayRequest(output, "parquet", engine="driver"), spark=never)
    found = []
    for row in pq.read_table(output).to_pylist():
        found += [(row["device"], row["kind"], row["value"])] * row["multiplicity"]
    assert sorted(found) == sorted(wanted) != []


def test_texts_are_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"a": {"b": 1.50, "c": true}, "a.b": "own"}\r\n\n'
        b'{"a": {"b": 123456789012345678901, "c": {"x": [1.0, null]}}}\n'
        b'{"a": {"b": "text", "c": null}}\n[1]\nno\n{"a": 3}\n'
    )
    (table,) = read_nested(str(file), {"b": "a.b", "c": "a.c"}, None)
    assert table.to_pydict() == {
        "b": ["own", "123456789012345678901", "text", None, None, None],
        "c": ["true", '{"x":[1.0,null]}', None, None, None, None],
        CORRUPT: [None, None, None, "[1]", "no", None],
    }


def test_elements_that_are_values(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"t": 1, "v": [5, null, "x"]}\n{"t": 2, "v": []}\n{"t": 3}\n{"t": 4, "v": 5}\n'
    )
    (table,) = read_nested(str(file), {"t": "t", "v": "v"}, "v")
    assert table.to_pydict() == {
        "t": ["1", "1", "1", None],
        "v": ["5", None, "x", None],
        CORRUPT: [None, None, None, '{"t": 4, "v": 5}'],
    }


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        (TOML.replace('"json"', '"jsonl"'), "has format = 'jsonl'"),
        (TOML.replace('"json"', '"csv"'), "has unnest = 'data.values'"),
        (
            TOML.replace('"json"', '"orc"').replace(', unnest = "data.values"', ""),
            "column 'device' is from 'device.id', where the data is orc",
        ),
        (TOML.replace('"device.id"', '"device..id"'), "names with dots"),
        (TOML.replace('"data.values" }', '"data." }'), "has unnest = 'data.'"),
    ],
)
def test_what_is_refused(tmp_path: Path, toml: str, told: str) -> None:
    with pytest.raises(CatalogError, match=told):
        make_catalog(tmp_path, toml)


def test_spark_refuses_them() -> None:
    columns = (Column("a", IntType(), path="b.a"), Column("c", StringType()))
    stream = Stream("S", DataSource("kafka", "topic"), "ts", 1, None, columns)
    with pytest.raises(DataError, match="columns from paths, or unnest"):
        refuse_written(stream)
