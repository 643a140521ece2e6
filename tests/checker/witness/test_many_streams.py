"""A few rows of a union of many streams are looked at where they can match, and nowhere else."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ontoweir.checker.witness.evaluate_naively import evaluate_naively
from ontoweir.checker.witness.keyed import match_naively
from ontoweir.checker.witness.keyed.hold_naively import hold_naively
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.runtime.harness import make_catalog

MANY = 30
NAMES = [f"s{n}" for n in range(MANY)]
STREAM = """
[streams.{}]
source = {{ format = "parquet", path = "x" }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ k = "int", v = "int" }}
"""
ALL = " UNION ALL ".join(f"SELECT k, v FROM {name}" for name in NAMES)
BESIDE = " UNION ALL ".join(
    f"SELECT a.k, a.v FROM s0 a, {name} b WHERE a.k = b.k AND a.ts < b.ts" for name in NAMES
)


@pytest.mark.parametrize(
    ("text", "there", "looked"),
    [
        (ALL, ("s4",), 1),
        (ALL, ("s4", "s9"), 2),
        (BESIDE, ("s0", "s9"), 2),
        (BESIDE, ("s9",), 0),
        (ALL, (), 0),
    ],
)
def test_only_where_each_table_has_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, there: tuple[str, ...], looked: int
) -> None:
    catalog = make_catalog(tmp_path, "".join(map(STREAM.format, NAMES)))
    union = parse_sql(text, catalog, name="q", file="q.sql")
    asked: list[Any] = []

    def evaluate(*given: Any) -> Counter[tuple[Any, ...]]:
        asked.append(given)
        return evaluate_naively(*given)

    monkeypatch.setattr(match_naively, "evaluate_naively", evaluate)
    content = {name: [(n * 1_000_000, {"k": 1, "v": n}) for n in (1, 2)] for name in there}
    _, held = hold_naively(union, catalog, content, 9_000_000)
    assert len(asked) == looked
    everywhere = {
        name: [{**row, "ts": at // 1_000_000} for at, row in content.get(name, ())]
        for name in NAMES
    }
    assert held == evaluate_naively(union, everywhere)
    assert bool(held) == bool(looked)
