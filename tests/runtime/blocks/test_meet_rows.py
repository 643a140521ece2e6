"""Rows meet the last version of their key that is not later, whatever comes in which chunk."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import (
    Column,
    DataSource,
    IntType,
    KeyConstant,
    Meeting,
    Stream,
    StringType,
    VersionsOf,
)
from ontoweir.runtime.blocks.meet_rows import MetStreams, held_schema, meet_rows
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.times.steps import Steps

K, A = Column("k", StringType(), enum=("p", "q")), Column("a", IntType())
BASE = Stream("s", DataSource("parquet", None), "ts", 1, None, (K, A))
UPDATES = replace(BASE, name="u")
STREAMS = MetStreams(BASE, UPDATES)
MET = replace(BASE, columns=(K, A, replace(K, name="p.k"), replace(A, name="p.a")))
VERSIONS = VersionsOf("u", ("k",), "gone", "seq")
MEETING = Meeting("s", VERSIONS, (("k", "k"),), (("k", "p.k"), ("a", "p.a")))
NOTHING = pa.schema([("k", pa.string()), ("a", pa.int64())]).empty_table()


def admit(times: list[int], **columns: Any) -> Admitted:
    at = np.array(times, dtype=np.int64)
    return Admitted(Steps(at, 1), at, pa.table(columns), len(at), {})


def updates(*rows: tuple[int, str | None, int, bool | None, int | None]) -> Admitted:
    times, keys, values, gone, seq = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return admit(
        list(times),
        k=pa.array(keys, pa.string()),
        a=pa.array(values, pa.int64()),
        gone=pa.array(gone, pa.bool_()),
        seq=pa.array(seq, pa.int64()),
    )


def ask(
    times: list[int], keys: list[str | None], new: Admitted, held: pa.Table = NOTHING
) -> tuple[list[tuple[int, int]], dict[str, int]]:
    """The rows that met a version, with its value; and the versions that are kept."""
    rows = admit(times, k=pa.array(keys, pa.string()), a=pa.array(times))
    met, after = meet_rows(MEETING, rows, new, held, STREAMS)
    found = zip(met.times.tolist(), met.table.column("p.a").to_pylist(), strict=True)
    kept = zip(after.column("k").to_pylist(), after.column("a").to_pylist(), strict=True)
    return list(found), dict(kept)


def test_the_version_of_the_time() -> None:
    new = updates((1, "p", 10, False, 1), (3, "p", 30, None, 1), (3, "q", 31, False, 1))
    found, kept = ask([0, 1, 2, 3, 4, 4], ["p", "p", "p", "p", "q", None], new)
    assert found == [(1, 10), (2, 10), (3, 30), (4, 31)]
    assert kept == {"p": 30, "q": 31}


def test_the_greatest_in_order_is_the_latest() -> None:
    new = updates((1, "p", 12, False, 2), (1, "p", 13, False, 3), (1, "p", 11, False, None))
    assert ask([1], ["p"], new) == ([(1, 13)], {"p": 13})
    new = updates((1, "p", 13, False, 3), (1, "p", 11, False, None), (1, "p", 12, False, 2))
    assert ask([1], ["p"], new) == ([(1, 13)], {"p": 13})


def test_deletions_last_until_the_next_version() -> None:
    new = updates((2, "p", 0, True, 1), (5, "p", 50, False, 1))
    held = NOTHING.schema.empty_table()
    held = pa.concat_tables([held, pa.table({"k": ["p"], "a": pa.array([1], pa.int64())})])
    assert ask([1, 2, 4, 5], ["p"] * 4, new, held) == ([(1, 1), (5, 50)], {"p": 50})
    assert ask([], [], updates((6, "p", 0, True, 1)), held) == ([], {})


def test_versions_that_nobody_asks_for_are_not_kept() -> None:
    """The stream of the rows has a domain; a constant is the only key."""
    assert ask([1], ["p"], updates((1, "z", 9, False, 1)))[1] == {}
    fixed = Meeting("s", VERSIONS, ((KeyConstant("q"), "k"),), MEETING.columns)
    rows = admit([3], k=["p"], a=[1])
    new = updates((1, "p", 9, False, 1), (2, "q", 8, False, 1))
    met, after = meet_rows(fixed, rows, new, NOTHING, STREAMS)
    assert met.table.column("p.a").to_pylist() == [8]
    assert after.column("k").to_pylist() == ["q"]


def test_two_latest_versions_are_an_error() -> None:
    new = updates((1, "p", 1, False, None), (1, "p", 2, False, None))
    with pytest.raises(DataError, match=r"u has two versions of k = p at .*, without seq"):
        ask([1], ["p"], new)


def test_only_columns_that_are_read_are_kept() -> None:
    new = admit([1], k=["p"], gone=[False], seq=[1])
    assert held_schema(MEETING, MET, new).names == ["k"]
