"""Random streams with rows that are wrong: what is found, against a plain reading of the rules; and
the rejected rows that a replay writes, against those that it counts."""

import csv
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.run.check_data import DataCheck
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from tests.runtime.harness import make_catalog, make_sql_job

CODES = range(5)


@dataclass(frozen=True)
class Declared:
    """What is declared of the stream; seconds."""

    form: str
    lateness: int
    sort: bool
    limit: int

    def toml(self) -> str:
        options = ', options = { header = "true" }' if self.form == "csv" else ""
        sort = ", sort = true" if self.sort else ""
        late = f', lateness = "{self.lateness} seconds"' if self.lateness else ""
        return f"""\
[streams.S]
source = {{ format = "{self.form}", path = "s"{sort}{options} }}
timestamp = {{ column = "ts", unit = "1 second"{late} }}
max_per_timestamp = {self.limit}
keys = [["id", "ts"]]
references = [{{ columns = ["code"], relation = "codes", to = ["code"] }}]
[streams.S.columns]
id = "int"
code = "int"
size = {{ type = "int", min = 0, max = 50 }}
[relations.codes]
source = {{ format = "csv", path = "codes.csv", options = {{ header = "true" }} }}
keys = [["code"]]
columns = {{ code = "int" }}
"""


def _draw_rows(random: Random, form: str, *, disorder: int) -> list[dict[str, str | None]]:
    rows: list[dict[str, str | None]] = []
    for n in range(random.randint(30, 120)):
        second = max(0, n // 3 - random.choice([0, 0, 0, random.randint(0, disorder)]))
        row: dict[str, str | None] = {
            "id": str(random.randint(0, 6)),
            "code": str(random.choice([*CODES, *CODES, 9])),
            "size": str(random.choice([0, 50, 7, 7, 51, -1])),
            "ts": f"2026-01-01T00:{second // 60:02}:{second % 60:02}",
        }
        if random.random() < 0.05:
            row["ts"] = None
        if form != "parquet" and random.random() < 0.05:
            row[random.choice(["id", "code", "size", "ts"])] = "noon"
        if random.random() < 0.05:
            row["code"] = None
        rows.append(row)
    return rows


def _write(folder: Path, form: str, rows: list[dict[str, str | None]]) -> None:
    """Two files, the second of the rest."""
    (folder / "s").mkdir()
    (folder / "codes.csv").write_text("\n".join(["code", *map(str, CODES)]) + "\n")
    half = len(rows) // 2
    for name, part in (("a", rows[:half]), ("b", rows[half:])):
        file = folder / "s" / f"{name}.{form}"
        if form == "csv":
            with file.open("w", newline="") as opened:
                writer = csv.DictWriter(opened, ["id", "code", "size", "ts"])
                writer.writeheader()
                writer.writerows({n: "" if v is None else v for n, v in r.items()} for r in part)
        elif form == "json":
            file.write_text("".join(json.dumps(r) + "\n" for r in part))
        else:
            columns = {n: [r[n] for r in part] for n in ("id", "code", "size", "ts")}
            table = pa.table(
                {n: pa.array(v).cast(pa.timestamp("us") if n == "ts" else pa.int64())
                 for n, v in columns.items()}
            )  # fmt: skip
            pq.write_table(table, file, row_group_size=7)


def _explain(rows: list[dict[str, str | None]], declared: Declared) -> Counter[tuple[str, int]]:
    """Which rows are wrong, and why, row by row: (the first word of the reason, the row)."""
    wrong: Counter[tuple[str, int]] = Counter()
    reach, waiting = -1, []
    for place, row in enumerate(rows):
        text = row["ts"]
        if text is None or text == "noon":
            # of columns that cannot be read, the first is named, the timestamp last
            first = next((c for c in ("id", "code", "size") if row[c] == "noon"), None)
            kind = "NULL" if first is None and text is None else "type"
            wrong[kind, place] += 1
            continue
        second = int(text[-5:-3]) * 60 + int(text[-2:])
        if not declared.sort and second < reach - declared.lateness:
            wrong["late", place] += 1
        else:
            waiting.append((second, place))
        reach = max(reach, second)
    seen: set[tuple[int, str]] = set()
    kept: list[tuple[int, int]] = []
    count: Counter[int] = Counter()
    for second, place in sorted(waiting):
        row = rows[place]
        if "noon" in (row["id"], row["code"], row["size"]):
            wrong["type", place] += 1
        elif not 0 <= int(row["size"] or 0) <= 50:
            wrong["domain", place] += 1
        elif row["code"] is not None and int(row["code"]) not in CODES:
            wrong["reference", place] += 1
        elif (second, row["id"] or "") in seen:
            wrong["key", place] += 1
        else:
            seen.add((second, row["id"] or ""))
            kept.append((second, place))
    for second, place in kept:
        if count[second] >= declared.limit:
            wrong["rate", place] += 1
        count[second] += 1
    return wrong


_WORDS = {
    "is NULL": "NULL",
    "not of its type": "type",
    "is late": "late",
    "goes backwards": "late",
    "outside": "domain",
    "is not in": "reference",
    "repeats the key": "key",
    "has more than": "rate",
}


def _word(reason: str) -> str:
    return next(word for text, word in _WORDS.items() if text in reason)


def _place(rows: int, form: str, file: str, number: int) -> int:
    """The place of a row by its file and its number there."""
    return (rows // 2 if Path(file).stem == "b" else 0) + number - (2 if form == "csv" else 1)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_wrong_is_found_where_it_is(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    form = random.choice(["csv", "json", "parquet"])
    lateness, sort = random.choice([(0, False), (3, False), (60, False), (0, True)])
    declared = Declared(form, lateness, sort, random.choice([1, 2, 9]))
    rows = _draw_rows(random, form, disorder=random.choice([0, 2, 12]))
    _write(tmp_path, form, rows)
    catalog = make_catalog(tmp_path, declared.toml())
    wanted = _explain(rows, declared)
    (found,) = DataCheck(catalog, _never).find({"S"})
    assert (found.rows, found.whole) == (len(rows), True)
    counts: Counter[str] = Counter()
    for violation in found.violations:
        word = _word(violation.reason)
        counts[word] += violation.rows
        assert len(violation.examples) == min(3, violation.rows)
        for example in violation.examples:
            place = _place(len(rows), form, example.file, example.number)
            assert wanted[word, place] == 1, (violation, place)
            assert dict(rows[place]) == {n: _text(v) for n, v in example.values.items()}
    assert counts == Counter(word for word, _ in wanted)


def _text(value: object) -> str | None:
    if value is None or value == "":
        return None
    return str(value).replace(" ", "T")


def _never() -> NoReturn:
    raise AssertionError("Spark is not needed")


@pytest.mark.parametrize("seed", range(20))
def test_a_replay_writes_the_rows_that_it_counts(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    form = random.choice(["csv", "json", "parquet"])
    lateness, sort = random.choice([(3, False), (60, False), (0, True)])
    declared = Declared(form, lateness, sort, 99)
    rows = _draw_rows(random, form, disorder=random.choice([0, 2, 12]))
    _write(tmp_path, form, rows)
    job = make_sql_job("SELECT x.id FROM S x", make_catalog(tmp_path, declared.toml()))
    output, folder = tmp_path / "out.parquet", tmp_path / "deep" / "rejects"
    request = ReplayRequest(
        output, "parquet", engine="driver", rejects=folder, rows_per_chunk=random.choice([7, None])
    )
    summary = replay_history(job, request, spark=_never)
    written = pq.read_table(folder / "rejects.parquet").to_pylist()
    assert Counter(row["reason"] for row in written) == Counter(summary.rejected)
    places = Counter(
        (_word(r["reason"]), _place(len(rows), form, r["file"], r["number"])) for r in written
    )
    assert places == _explain(rows, declared)
    for row in written:
        place = _place(len(rows), form, row["file"], row["number"])
        assert dict(rows[place]) == {n: _text(v) for n, v in json.loads(row["row"]).items()}


def test_rules_about_the_time_between_rows(tmp_path: Path) -> None:
    toml = """\
[streams.S]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
clustered = [{ columns = ["session"], within = "5 seconds" }]
columns = { session = "int" }
"""
    times = [(1, 0), (2, 3), (1, 5), (1, 6), (2, 8), (2, 9), (3, 40)]
    lines = [f"{session},2026-01-01T00:00:{second:02}" for session, second in times]
    (tmp_path / "s.csv").write_text("\n".join(["session,ts", *lines]) + "\n")
    (found,) = DataCheck(make_catalog(tmp_path, toml), _never).find({"S"})
    (violation,) = found.violations
    assert violation.reason == "more than 5 seconds after a row of S with the same session"
    assert [e.number for e in violation.examples] == [5, 7]


def test_relations_and_references_of_several_columns(tmp_path: Path) -> None:
    toml = """\
[streams.S]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
references = [{ columns = ["a", "b"], relation = "R", to = ["a", "b"] }]
columns = { a = "int", b = "int" }
[relations.R]
source = { format = "csv", path = "r.csv", options = { header = "true" } }
keys = [["a", "b"]]
max_rows = 4
references = [{ columns = ["b"], relation = "Q", to = ["b"] }]
columns = { a = { type = "int", max = 7 }, b = "int" }
[relations.Q]
source = { format = "csv", path = "q.csv", options = { header = "true" } }
columns = { b = "int" }
"""
    (tmp_path / "q.csv").write_text("b\n1\n2\n")
    (tmp_path / "r.csv").write_text("a,b\n1,1\n1,2\n1,1\n8,1\n2,3\nx,1\n2,2\n")
    (tmp_path / "s.csv").write_text("a,b,ts\n1,1,2026-01-01\n2,1,2026-01-01\n,1,2026-01-01\n")
    relation, other, stream = DataCheck(make_catalog(tmp_path, toml), _never).find({"R", "Q", "S"})
    assert other.violations == ()
    assert {v.reason: [e.number for e in v.examples] for v in relation.violations} == {
        "a is not of its type": [7],
        "R.a is outside its declared domain": [5],
        "R repeats the key (a, b)": [4],
        "R.b is not in Q.b": [6],
        "R has more than max_rows = 4 rows": [8],
    }
    (stray,) = stream.violations
    assert stray.reason == "(S.a, S.b) is not in (R.a, R.b)"
    assert [e.number for e in stray.examples] == [3]
