"""Lines of JSON that are alike but for a few: read as when all of them are parsed."""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
)
from ontoweir.runtime.text import read_json as module
from ontoweir.runtime.uniform.read_uniform import read_uniform

TYPES: dict[str, ColumnType] = {
    "n": IntType(),
    "a": StringType(),
    "x": FloatType(),
    "d": DecimalType(8, 2),
    "t": BooleanType(),
}
ODD = (
    '{"n": 1, "a": "x, y", "x": 1.5, "d": 2.25, "t": true}',
    '{"n": 1, "a": {"b": [1, 2]}, "x": 1.5, "d": 2.25, "t": true}',
    '{"a": "x", "n": 1}',
    '{"n": 1, "a": "\\u00e4", "x": 1e3, "d": 2, "t": null}',
    '{"n": 1, "a": "cut',
    "",
    '{"n": "7", "a": "x", "x": "1.5", "d": "2.25", "t": "true"}',
)


def write(file: Path, random: Random, odd: int) -> None:
    """So many odd lines, anywhere."""
    lines = [
        json.dumps(
            {
                "n": random.choice([None, random.randrange(10**6)]),
                "a": random.choice(["", "b", "thirteen bytes"]),
                "x": random.random(),
                "d": random.randrange(1000) / 4,
                "t": random.random() < 0.5,
            }
        )
        for _ in range(9_000)
    ]
    for _ in range(odd):
        lines.insert(random.randrange(len(lines)), random.choice(ODD))
    file.write_text("\n".join(lines))


def read(file: Path) -> list[tuple[Any, ...]]:
    """What rows say, in whatever types."""
    rows: list[tuple[Any, ...]] = []
    for table in module.read_json(str(file), list(TYPES), TYPES):
        rows += (tuple(map(_value, row.items())) for row in table.to_pylist())
    return rows


def _value(cell: tuple[str, Any]) -> Any:
    name, value = cell
    if value is None or name in ("a", module.CORRUPT):
        return value
    if name == "t":
        return str(value).lower()
    return float(value) if name == "x" else Decimal(value).normalize()


@pytest.mark.parametrize("odd", [0, 1, 3, 60, 4_000])
def test_what_all_lines_say_when_they_are_parsed(
    odd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 1 << 17)
    monkeypatch.setattr(module, "_PIECE", 1 << 12)
    seen: list[tuple[int, bool]] = []

    def watched(block: bytes, kinds: Mapping[str, pa.DataType]) -> pa.Table | None:
        table = read_uniform(block, kinds)
        seen.append((len(block), table is not None))
        return table

    monkeypatch.setattr(module, "read_uniform", watched)
    for seed in range(3):
        file = tmp_path / f"{seed}.jsonl"
        write(file, Random(seed), odd)
        seen.clear()
        found = read(file)
        alike = sum(size for size, good in seen if good)
        assert (alike > 0.5 * file.stat().st_size) == (odd < 100)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_read_alike", lambda block, types: None)
            assert read(file) == found
        assert len(found) >= 9_000
