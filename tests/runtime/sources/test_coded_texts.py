"""Texts of Parquet files by their dictionaries: the same rows admitted, and the same answers, as of
plain texts, whatever dictionaries the row groups have."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.sources.coded_texts import concat_rows, find_coded
from tests.runtime.harness import make_catalog, make_sql_job
from tests.runtime.in_process import replay_here

TOML = """
[streams.S]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"], ["w", "k", "ts"]]
references = [{ columns = ["a"], relation = "R", to = ["a"] }]
[streams.S.columns]
k = "string"
a = "string"
w = { type = "string", enum = ["", "Ålborg", "x"] }
[relations.R]
source = { format = "parquet", path = "r.parquet" }
keys = [["a"]]
[relations.R.columns]
a = "string"
n = "string"
"""
QUERIES = (
    """SELECT R.n, Y.k, Y.w FROM S X, S Y, R WHERE X.a = Y.a AND R.a = X.a AND X.ts < Y.ts
    AND X.w = 'Ålborg' AND Y.k >= 'key-3'""",
    "SELECT X.k, Y.a FROM S X, S Y WHERE X.k = Y.a AND X.ts <= Y.ts AND Y.w <> ''",
    "SELECT DISTINCT X.w FROM S X WHERE X.k >= 'k' AND X.w <> 'x'",
)
NAMES = [*(f"key-{n}" for n in range(6)), "", "é", "€uro", "😀"]
ROWS = 300


def _make_rows(seed: int) -> list[dict[str, Any]]:
    """Rows of which some break a key, a reference, or the enumeration, and some have NULL."""
    random = np.random.default_rng(seed)

    def some(values: list[str]) -> list[str | None]:
        drawn = random.integers(-1, len(values), ROWS)
        return [None if i < 0 else values[i] for i in drawn]

    times = np.sort(random.integers(0, 60, ROWS)).tolist()
    columns = {"ts": times, "k": some(NAMES), "a": some([*NAMES, "nowhere"])}
    columns["w"] = some(["", "Ålborg", "x", "Alborg"])
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _count_rejected(rows: list[dict[str, Any]]) -> Counter[str]:
    """What is rejected, row by row."""
    counts: Counter[str] = Counter()
    good = []
    for row in rows:
        if row["w"] == "Alborg":
            counts["S.w is outside its declared domain"] += 1
        elif row["a"] == "nowhere":
            counts["S.a is not in R.a"] += 1
        else:
            good.append(row)
    for key in (("k",), ("w", "k")):
        seen, left = set(), []
        for row in good:
            values = (row["ts"], *(row[name] for name in key))
            if None not in values and values in seen:
                counts[f"S repeats the key ({', '.join([*key, 'ts'])})"] += 1
                continue
            seen.add(values)
            left.append(row)
        good = left
    return counts


def _store(rows: list[dict[str, Any]], way: str, folder: Path) -> None:
    """The history in several files of several row groups, of which all, some, or none have texts by
    dictionaries."""
    (folder / "s").mkdir(parents=True)
    texts = [(n, pa.string()) for n in ("k", "a", "w")]
    made = pa.Table.from_pylist(rows, pa.schema([("ts", pa.int64()), *texts]))
    times = pa.array(made.column("ts").to_numpy() * 1_000_000).cast(pa.timestamp("us"))
    made = made.set_column(0, "ts", times)
    for number, start in enumerate(range(0, ROWS, 75)):
        coded = way == "coded" or (way == "mixed" and number % 2 == 0)
        part = made.slice(start, 75)
        pq.write_table(
            part, folder / "s" / f"{number}.parquet", row_group_size=40, use_dictionary=coded
        )
    held = [n for n in NAMES if n != "key-5"] + ["key-5"]
    register = {"a": held, "n": [f"{n}!" for n in held]}
    pq.write_table(pa.table(register), folder / "r.parquet")
    stream = make_catalog(folder, TOML).streams["S"]
    for number in range(4):
        found = find_coded(pq.read_metadata(folder / "s" / f"{number}.parquet"), stream)
        wanted = {"plain": False, "coded": True, "mixed": number % 2 == 0}[way]
        assert set(found) == ({"k", "a", "w"} if wanted else set())


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("seed", range(2))
def test_dictionaries_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, seed: int
) -> None:
    rows = _make_rows(seed)
    found = {}
    for way in ("plain", "coded", "mixed"):
        folder = tmp_path / way
        _store(rows, way, folder)
        job = make_sql_job(query, make_catalog(folder, TOML))
        for size in (13, 1000):
            answers, summary = replay_here(
                monkeypatch, job, folder / f"{size}.parquet", engine="driver", rows_per_chunk=size
            )
            assert Counter(summary.rejected) == _count_rejected(rows)
            counted: Counter[Any] = Counter()
            for row in answers:
                times = row.pop("multiplicity", 1)
                counted[tuple(row.values())] += times
            found[way, size] = counted
    assert sum(found["plain", 13].values()) > 0
    assert all(answers == found["plain", 13] for answers in found.values())


def test_texts_of_a_dictionary_given_up_are_read_as_texts(tmp_path: Path) -> None:
    """What repeats is read by its dictionary; what does not, whose writer went over to texts after
    a while, is not."""
    (tmp_path / "s").mkdir()
    rows = 200_000
    few = pa.array(["north", "Ålborg", "x"]).take(pa.array(np.arange(rows) % 3))
    many = pa.array([f"a rather long name of the sensor {n * 7919 % rows}" for n in range(rows)])
    table = pa.table({"ts": pa.array(np.arange(rows)), "k": many, "a": few, "w": pa.nulls(rows)})
    file = tmp_path / "s" / "0.parquet"
    pq.write_table(table, file, row_group_size=rows)
    stream = make_catalog(tmp_path, TOML).streams["S"]
    assert find_coded(pq.read_metadata(file), stream) == ("a",)


def test_rows_with_and_without_dictionaries() -> None:
    texts = pa.array(["é", None, ""])
    plain, coded = pa.table({"a": texts}), pa.table({"a": texts.dictionary_encode()})
    assert concat_rows([coded, plain]).column("a").type == pa.string()
    assert concat_rows([coded, coded.slice(1)]).column("a").type == coded.column("a").type
    nothing = pa.table({"a": pa.nulls(2)})
    assert concat_rows([coded, nothing, plain]).column("a").to_pylist() == [
        *texts.to_pylist(),
        *(None, None),
        *texts.to_pylist(),
    ]


@pytest.mark.parametrize("coded", [False, True])
def test_what_is_no_text_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, coded: bool
) -> None:
    (tmp_path / "s").mkdir()
    _store(_make_rows(0), "plain", tmp_path / "other")
    (tmp_path / "other" / "r.parquet").rename(tmp_path / "r.parquet")
    bytes_ = pa.array([b"key-1", b"\xff", b"key-2", None] * 5, pa.binary())
    times = pa.array(np.arange(20) * 1_000_000).cast(pa.timestamp("us"))
    table = pa.table({"ts": times, "k": bytes_.view(pa.string()), "a": pa.nulls(20, pa.string())})
    table = table.append_column("w", pa.array(["x"] * 20))
    file = tmp_path / "s" / "0.parquet"
    pq.write_table(table, file, use_dictionary=coded, row_group_size=8)
    catalog = make_catalog(tmp_path, TOML)
    assert ("k" in find_coded(pq.read_metadata(file), catalog.streams["S"])) == coded
    job = make_sql_job("SELECT k FROM S WHERE k >= ''", catalog)
    answers, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", engine="driver")
    assert dict(summary.rejected) == {"k is not of its type": 5}
    assert sorted(a["k"] for a in answers) == ["key-1"] * 5 + ["key-2"] * 5
