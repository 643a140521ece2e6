"""How much of a history a task holds at once, and what becomes of its memory."""

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from ontoweir.runtime.replay.keep_pages import keep_pages
from ontoweir.runtime.replay.replay import _portion
from ontoweir.runtime.sources.history import History, Piece
from tests.runtime.harness import make_catalog

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = "int"
"""


@pytest.mark.parametrize(
    ("bytes_a_row", "rows"), [(8, 524_288), (64, 524_288), (128, 262_144), (1600, 50_000)]
)
def test_wide_rows_come_in_small_portions(bytes_a_row: int, rows: int, tmp_path: Path) -> None:
    stream = make_catalog(tmp_path, TOML).streams["s"]
    piece = Piece("s", 0, 7_000_000, "s", 1, size=bytes_a_row * 7_000_000)
    history = History(stream, ("k",), (piece, replace(piece, group=1)), staged=False)
    assert _portion([history, history]) == rows
    assert _portion([]) == 50_000
    assert _portion([history, history], joined=True) == 16_384


def test_the_gnu_c_library_keeps_pages() -> None:
    assert keep_pages() == (platform.libc_ver()[0] == "glibc")
