"""Columns are read late where few rows are wanted, and have the same values then."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.chunks import row_groups
from ontoweir.runtime.chunks.late_rows import LateColumns, ReadRows
from ontoweir.runtime.chunks.row_groups import RowGroups
from ontoweir.runtime.ingest.select_candidates import Selection, find_rows
from ontoweir.runtime.parquet.pick_codes import CodedPages
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.sources.list_pieces import list_pieces
from tests.runtime.harness import make_catalog

TOML = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "n", unit = "1 second" }
columns = { k = "int", a = "int", t = "string", d = "double" }
"""
NAMES = ("a", "t", "d")
ROWS, GROUP = 20_000, 12_000


def _write(file: Path) -> pa.Table:
    """`a` has no NULL, `t` and `d` have some."""
    rows = range(ROWS)
    table = pa.table(
        {
            "n": [*rows],
            "k": [n % 100 for n in rows],
            "a": [n * 7919 % 500 for n in rows],
            "t": [f"t{n * 31 % 77}" if n % 3 else None for n in rows],
            "d": [n * 31 % 90 / 8 if n % 4 else None for n in rows],
        }
    )
    pq.write_table(table, file, row_group_size=GROUP, data_page_size=9_000)
    return table


def _scan(folder: Path, selection: Selection) -> list[ReadRows]:
    stream = make_catalog(folder, TOML).streams["s"]
    files = [str(folder / "s.parquet")]
    columns = ["k", *NAMES]
    pieces = list_pieces(files, stream, [*columns, "n"], start_us=None, stop_us=None)
    history = History(stream, tuple(columns), pieces, staged=False)
    late = LateColumns(
        frozenset(NAMES), lambda table: find_rows(table, [selection]), dear=frozenset({"t"})
    )
    groups = RowGroups()
    found = [r for piece in pieces for r in groups.scan(history, piece, 5_000, late=late)]
    groups.close()
    return found


@pytest.mark.parametrize(("least", "few"), [(99, True), (88, True), (87, False), (0, False)])
def test_where_few_are_wanted(
    least: int, few: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All columns but those that are compared; else texts alone. One row in eight is few."""
    table, picked = _write(tmp_path / "s.parquet"), set[str]()
    pick = CodedPages.pick

    def noted(pages: CodedPages, rows: "np.ndarray") -> pa.ChunkedArray:
        values = pick(pages, rows)
        picked.add(str(values.type))
        return values

    monkeypatch.setattr(CodedPages, "pick", noted)
    monkeypatch.setattr(row_groups, "_SAMPLE", 800)  # the first rows say it: 12 or 13 of 100
    parts, first, found = _scan(tmp_path, (("k", least, 99),)), 0, list[tuple[object, ...]]()
    for part in parts:
        assert part.late is not None
        assert set(part.late.table.column_names) == (set(NAMES) if few else {"t"})
        rows = pa.array(part.late.index + first)
        wanted = table.take(rows)
        assert wanted.column("k").to_pylist() == [k for k in wanted["k"].to_pylist() if k >= least]
        whole = part.table.take(pa.array(part.late.index))
        for name in NAMES:
            values = (part.late.table if name in part.late.table.column_names else whole)[name]
            texts = pa.types.is_dictionary(values.type)
            values = values.cast(pa.string()) if texts else values
            assert values.to_pylist() == wanted[name].to_pylist()
        found += zip(wanted["n"].to_pylist(), strict=True)
        first += part.num_rows
    assert len(found) == ROWS // 100 * (100 - least)
    assert len(picked) == (3 if few else 1)


def test_where_nothing_is_dear_nothing_is_late(tmp_path: Path) -> None:
    _write(tmp_path / "s.parquet")
    stream = make_catalog(tmp_path, TOML).streams["s"]
    pieces = list_pieces(
        [str(tmp_path / "s.parquet")], stream, ["k", "a", "n"], start_us=None, stop_us=None
    )
    history = History(stream, ("k", "a"), pieces, staged=False)
    late = LateColumns(frozenset({"a"}), lambda table: find_rows(table, [(("k", 3, 99),)]))
    groups = RowGroups()
    parts = [r for piece in pieces for r in groups.scan(history, piece, 5_000, late=late)]
    groups.close()
    assert all(part.late is None for part in parts)
    assert sum(part.num_rows for part in parts) == ROWS
