"""Changes of tables, as Debezium and compacted topics say them: replayed, live, and of Kafka."""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import CatalogError, DataError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.run.prepare_jobs import plan_job
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals.ingest import FAULT
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.open_changes import KEY, SENT, VALUE, open_changes
from ontoweir.runtime.live.arrivals.read_arrivals import open_arrivals
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.model.row_places import OFFSET, PARTITION
from ontoweir.runtime.sources.conform_rows import RAW
from ontoweir.runtime.sources.convert_table import describe_bad
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.read_source import BAD, refuse_written
from ontoweir.runtime.text.read_text import read_text_rows
from tests.runtime.harness import make_catalog
from tests.runtime.in_process import replay_here

TOML = """\
[streams.sale]
source = { format = "json", path = "sale.jsonl" }
timestamp = { column = "ts", unit = "1 second", format = "epoch_ms" }
[streams.sale.columns]
item = { type = "int", min = 0, max = 9 }

[streams.update]
source = { format = "json", path = "update.jsonl", envelope = "debezium", delete = "gone" }
timestamp = { column = "ts", unit = "1 second", format = "epoch_ms", from = ["source.ts_ms"], \
align = "floor" }
keys = [["item", "ts", "lsn"]]
[streams.update.columns]
item = { type = "int", min = 0, max = 9 }
price = { type = "decimal(6,2)", from = "after.cost.amount" }
lsn = { type = "int", from = "source.lsn" }
gone = "boolean"

[relations.price]
versions = { stream = "update", key = ["item"], delete = "gone", order = "lsn" }
"""
UPSERT = (
    TOML.replace(
        '"json", path = "update.jsonl", envelope = "debezium"',
        '"json", path = "update.jsonl", envelope = "upsert"',
    )
    .replace('"source.ts_ms"', '"timestamp"')
    .replace('"after.cost.amount"', '"value.cost.amount"')
    .replace('"source.lsn"', '"offset"')
)
SQL = (
    "SELECT s.item, s.ts, p.price FROM sale AS s JOIN price FOR SYSTEM_TIME AS OF s.ts AS p "
    "ON p.item = s.item"
)
WRONG = [
    "{not json",
    "[1]",
    '{"op": "t", "source": {"ts_ms": 1}}',
    '{"before": null, "after": null, "op": "d", "source": {"ts_ms": 1}}',
    '{"before": {"item": 1}, "after": null, "op": "u", "source": {"ts_ms": 1}}',
    "{}",
]
TOLD = {
    "update has what is not a JSON object": 2,
    "update has an op other than c, u, d and r": 2,
    "update has a deletion without an object as before": 1,
    "update has a change without an object as after": 1,
}


def _draw(random: Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Sales, and changes of prices: item, price (None: it is deleted), ms, number."""
    sales = [{"ts": 1000 * (n // 3), "item": random.randint(0, 3)} for n in range(60)]
    known: dict[int, float] = {}
    changes = []
    for n in range(40):
        item = random.randint(0, 3)
        gone = item in known and random.random() < 0.3
        price = None if gone else random.randint(1, 999) / 4
        changes.append({"item": item, "price": price, "before": known.get(item), "ms": 500 * n})
        if gone:
            del known[item]
        else:
            known[item] = price or 0
    return sales, [{**c, "lsn": n} for n, c in enumerate(changes)]


def _debezium(random: Random, change: dict[str, Any]) -> dict[str, Any]:
    def image(price: float | None) -> dict[str, Any] | None:
        cost = {"amount": price, "currency": "EUR"}
        return None if price is None else {"item": change["item"], "cost": cost}

    op = (
        "d" if change["price"] is None else random.choice("rc" if change["before"] is None else "u")
    )
    payload = {
        "before": image(change["before"]) if op in "ud" else None,
        "after": image(change["price"]),
        "op": op,
        "ts_ms": change["ms"] + 77,
        "source": {"ts_ms": change["ms"], "lsn": change["lsn"]},
    }
    wrapped = {"schema": {"type": "struct"}, "payload": payload}
    return random.choice([payload, wrapped, {"payload": payload}])


def _upsert(random: Random, change: dict[str, Any]) -> dict[str, Any]:
    gone = change["price"] is None
    value = None if gone else {"cost": {"amount": change["price"]}}
    key: dict[str, Any] = {"item": change["item"]}
    return {
        "key": random.choice([key, {"schema": {}, "payload": key}]),
        "value": value,
        "timestamp": change["ms"],
        "offset": change["lsn"],
    }


def _expect(sales: list[dict[str, Any]], changes: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """By going through all changes for each sale."""
    rows = []
    for sale in sales:
        price = None
        for change in changes:
            if change["item"] == sale["item"] and change["ms"] // 1000 * 1000 <= sale["ts"]:
                price = change["price"]
        if price is not None:
            rows.append((sale["item"], sale["ts"], price))
    return sorted(rows)


def _write(folder: Path, sales: list[Any], lines: list[str]) -> None:
    (folder / "sale.jsonl").write_text("".join(json.dumps(s) + "\n" for s in sales))
    (folder / "update.jsonl").write_text("".join(line + "\n" for line in lines))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("form", ["debezium", "upsert"])
def test_rows_meet_the_versions_that_the_changes_say(
    form: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    sales, changes = _draw(random)
    make = _debezium if form == "debezium" else _upsert
    lines = [json.dumps(make(random, c)) for c in changes]
    if form == "debezium":
        for bad in (*WRONG, "null", "null"):
            lines.insert(random.randint(0, len(lines)), bad)
    _write(tmp_path, sales, lines)
    catalog = make_catalog(tmp_path, TOML if form == "debezium" else UPSERT)
    job = _plan(catalog)
    rows, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    assert _found(rows) == _expect(sales, changes) != []
    told = TOLD if form == "debezium" else {}
    assert summary.rejected == told
    live, reasons, shown = _live(make_live_job([job], catalog, {}, {}), tmp_path)
    last = max(sale["ts"] for sale in sales)
    assert _found(live) == [row for row in _expect(sales, changes) if row[1] < last]
    assert reasons == told
    assert form == "upsert" or set(WRONG) == set(shown)


def _plan(catalog: Catalog) -> QueryJob:
    union = parse_sql(SQL, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog)
    assert verdict.bound is not None
    assert verdict.bound.rows == 10  # a row for each item
    return replace(plan_job(verdict, catalog), union=union)


def _found(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    found = []
    for row in rows:
        ms = int(row["ts"].replace(tzinfo=UTC).timestamp() * 1000)
        found += [(row["item"], ms, float(row["price"]))] * row["multiplicity"]
    return sorted(found)


def _live(job: LiveJob, folder: Path) -> tuple[list[dict[str, Any]], Counter[str], list[str]]:
    """Answers, rejected rows by reason, and as they are shown: all that is there at once."""
    tables = {}
    for history in job.histories:
        name = history.stream.name
        file = ArrivedFile((folder / f"{name}.jsonl").as_uri(), str(folder / f"{name}.jsonl"), 1)
        portions, bad = open_arrivals(history, [file], cast(SparkSession, None), folder / "staged")
        assert not bad
        tables[name] = pa.concat_tables([p.load() for p in portions])
    outcome = advance_live(job, begin_live(job), tables, 0.0)
    return (
        outcome.answers[0].to_pylist(),
        Counter(r.reason for r in outcome.rejects),
        [r.row for r in outcome.rejects],
    )


@pytest.mark.parametrize("form", ["debezium", "upsert"])
def test_messages_of_kafka_are_read_as_lines_of_files(form: str, tmp_path: Path) -> None:
    """The key beside the value; a tombstone is a deletion of an upsert, and nothing of Debezium's.
    A key that is no JSON is text, and of a deletion without before the key is all that is known."""
    toml = TOML if form == "debezium" else UPSERT
    catalog = make_catalog(tmp_path, toml)
    stream = catalog.streams["update"]
    names = frozenset({"item", "price", "lsn", "gone"})
    history = History(stream, tuple(sorted(names)), (), staged=True)
    made: list[dict[str, Any]] = [
        {"before": None, "after": {"item": 1, "cost": {"amount": 2.5}}, "op": "c"},
        {"before": {"item": 1, "cost": None}, "after": None, "op": "d"},
        {"before": None, "after": None, "op": "d"},
    ]
    values: list[str | None]
    if form == "debezium":
        values = [json.dumps({**m, "source": {"ts_ms": 7500, "lsn": 4}}) for m in made]
    else:
        values = ['{"cost": {"amount": 2.50}}', None, '{"payload": null, "schema": null}']
    values += [None, "no"]
    keys = ['{"item": 1}', '{"item": 1}', '{"schema": 0, "payload": {"item": 3}}', None, "k"]
    messages = pa.table(
        {
            KEY: keys,
            VALUE: pa.array(values, pa.string()),
            SENT: [7500] * 5,
            PARTITION: ["update:topic/1"] * 5,
            OFFSET: [4, 4, 4, 4, 5],
        }
    )
    rows = open_changes(history, messages)
    seen = [
        (r["item"], r["price"], r["lsn"], r["gone"], r["ts"], r[OFFSET])
        for r in rows.to_pylist()
        if r[FAULT] is None
    ]
    amount = Decimal("2.50")
    assert seen == [
        (1, amount, 4, False, 7_500_000, 4),
        (1, None, 4, True, 7_500_000, 4),
        (3, None, 4, True, 7_500_000, 4),
    ]
    faults = [(r[FAULT], r[RAW]) for r in rows.to_pylist() if r[FAULT] is not None]
    if form == "debezium":
        assert faults == [("update has what is not a JSON object", "no")]
    else:
        assert faults == [
            ("update has a message without a key", None),
            ("update has what is not a JSON object", "no"),
        ]
    assert open_changes(history, messages.slice(0, 0)).num_rows == 0


def test_keys_and_values_that_are_no_objects(tmp_path: Path) -> None:
    toml = UPSERT.replace('"int", min = 0, max = 9 }\nprice', '"string", from = "key" }\nprice')
    toml = toml.replace('"value.cost.amount"', '"value"')
    file = tmp_path / "update.jsonl"
    file.write_text(
        '{"key": "a", "value": 1.25, "timestamp": 1, "offset": 1}\n'
        '{"key": "a", "value": null, "timestamp": 1}\n{"key": "a"}\n{"value": 3}\n'
    )
    stream = make_catalog(tmp_path, toml).streams["update"]
    (table,) = read_text_rows(
        stream.data, str(file), stream.columns, stream.timestamp, written=stream.written
    )
    assert table.select(["item", "price", "gone"]).to_pylist() == [
        {"item": "a", "price": Decimal("1.25"), "gone": False},
        {"item": "a", "price": None, "gone": True},
        {"item": None, "price": None, "gone": None},
        {"item": None, "price": None, "gone": None},
    ]
    assert [b and describe_bad(b, "update") for b in table.column(BAD).to_pylist()] == [
        None,
        None,
        "update has a message without a value, where a deletion says null",
        "update has a message without a key",
    ]


def test_a_deletion_whose_time_is_of_the_row_before(tmp_path: Path) -> None:
    """A time from the row itself goes, but a deletion has none of its own."""
    toml = TOML.replace('"source.ts_ms"', '"after.at"')
    file = tmp_path / "update.jsonl"
    file.write_text(
        '{"after": {"item": 1, "at": 4000}, "op": "c"}\n'
        '{"before": {"item": 1, "at": 4000}, "op": "d"}\n'
    )
    stream = make_catalog(tmp_path, toml).streams["update"]
    (table,) = read_text_rows(
        stream.data, str(file), stream.columns, stream.timestamp, written=stream.written
    )
    assert table.column("ts").to_pylist() == [4_000_000, None]
    assert describe_bad(table.column(BAD)[1].as_py(), "update") == (
        "update has a deletion, whose time from after would be that of an earlier version"
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"debezium"', '"debezum"', "the envelope 'debezum' is not known"),
        (', delete = "gone" }\ntime', " }\ntime", "has no delete"),
        ('envelope = "debezium", ', "", "has delete, and no envelope"),
        (
            '"json", path = "update.jsonl"',
            '"parquet", path = "u"',
            "has an envelope, and format = 'parquet'",
        ),
        ('delete = "gone" }\ntime', 'delete = "off" }\ntime', "update.off is no column"),
        ('gone = "boolean"', 'gone = "int"', "update.gone is int"),
        (', from = ["source.ts_ms"]', "", "the timestamp of update has no from"),
        (', delete = "gone", order', ", order", "do not end where update says that a row is"),
    ],
)
def test_what_is_refused(old: str, new: str, told: str, tmp_path: Path) -> None:
    assert TOML.count(old) == 1
    with pytest.raises(CatalogError, match=told):
        make_catalog(tmp_path, TOML.replace(old, new))


def test_a_deletion_of_an_upsert_needs_a_time(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="a message that deletes its key has no value"):
        make_catalog(tmp_path, UPSERT.replace('from = ["timestamp"]', 'from = ["value.at"]'))


def test_spark_does_not_read_them(tmp_path: Path) -> None:
    stream = make_catalog(tmp_path, TOML).streams["update"]
    with pytest.raises(DataError, match="Spark is to read update, which has an envelope"):
        refuse_written(stream)
