"""What is left out before it is encoded, or let in by a short cut, is what the whole rules say."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.mappings.model.catalog import Catalog, Column, FloatType, IntType
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.columnar.check_domain import check_domain, find_held, lies_inside
from ontoweir.runtime.columnar.frame import ColumnKind, Frame, starts_of_runs
from ontoweir.runtime.ingest.admit_rows import Admitted, ColumnMemory, _off_step
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_members import MemberEncoder
from ontoweir.runtime.ingest.select_candidates import (
    Selection,
    _within,
    find_rows,
    select_candidates,
)
from ontoweir.runtime.pool.string_pool import StringPool
from ontoweir.runtime.times.steps import Steps
from ontoweir.runtime.times.time_runs import TimeRuns
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import make_case
from tests.runtime.harness import make_catalog
from tests.runtime.in_process import arrow_table, encode_statics

INTS = st.sampled_from([pa.int8(), pa.int16(), pa.int32(), pa.int64()])


def _rows(frame: Frame) -> list[tuple[float, ...]]:
    names = sorted(frame.columns)
    return sorted(zip(*(frame[n].tolist() for n in names), strict=True))


def _encoder(
    catalog: Catalog,
    admitted: Mapping[str, Admitted],
    few: int,
    wanted: Mapping[str, set[Selection]] | None = None,
) -> MemberEncoder:
    """One that has seen nothing of the rows."""
    fresh = {name: replace(rows, memory=ColumnMemory()) for name, rows in admitted.items()}
    return MemberEncoder(catalog, fresh, wanted, few)


@budget(1.0)
@given(seed=SEEDS)
def test_candidates_are_never_too_few(seed: int) -> None:
    """The batch of candidates is the batch of all tuples, up to the codes of strings."""
    random = Random(seed)
    case = make_case(random, markers=12, wide=random.choice([6, 40]))
    query = case.query.disjuncts[0]
    form = normalise_query(query, distinct=case.query.distinct, catalog=case.catalog)
    admitted = {}
    for name, stream in case.catalog.streams.items():
        table = arrow_table(case, name)
        cuts = sorted(random.choices(range(table.num_rows + 1), k=random.randrange(4)))
        ends = [*cuts, table.num_rows]  # as row groups are
        pieces = [table.slice(a, b - a) for a, b in zip([0, *cuts], ends, strict=True)]
        table = pa.concat_tables(pieces)
        steps = table.column(stream.timestamp).to_numpy().astype(np.int64)
        admitted[name] = Admitted(Steps(steps), steps, table, len(steps), {})
    pool = StringPool()
    statics = encode_statics(case, form, pool)
    intake = MemberBuilder(form, case.catalog, statics, pool)
    selections = [
        select_candidates(member, form, case.catalog.streams[member.stream])
        for member in form.members
    ]
    wanted: dict[str, set[Selection]] = {}
    for member, selection in zip(form.members, selections, strict=True):
        wanted.setdefault(member.stream, set()).add(selection)
    some, every = (_encoder(case.catalog, admitted, n) for n in (1, 1 << 60))
    shared = _encoder(case.catalog, admitted, random.choice([1, 2, 1 << 60]), wanted)
    for member, selection in zip(form.members, selections, strict=True):
        whole = intake.batch(member, every.arrival(member, form, pool, selection))
        for encoder in (some, shared):
            found = intake.batch(member, encoder.arrival(member, form, pool, selection))
            assert _rows(found) == _rows(whole)


@given(
    st.lists(st.none() | st.integers(-120, 120)),
    INTS,
    st.lists(st.integers(-(1 << 62), 1 << 62) | st.integers(-120, 120)),
)
def test_references_are_looked_up(
    values: list[int | None], kind: pa.DataType, among: list[int]
) -> None:
    column = pa.chunked_array([values[:3], values[3:]], kind)
    held = find_held(column, pa.array(among, pa.int64()))
    found = [True] * len(values) if held is None else held.tolist()
    assert found == [v is None or v in among for v in values]


def test_a_number_is_not_cut_off_to_be_found() -> None:
    """2^8 + 5 as a byte is 5."""
    held = find_held(pa.chunked_array([[5, 6]], pa.int8()), pa.array([261, 6], pa.int64()))
    assert held is not None
    assert held.tolist() == [False, True]


@pytest.mark.parametrize("kind", [pa.int16(), pa.float64()])
@pytest.mark.parametrize("values", [[1, 2, None], [None], [], [0, 2], [1, 9]])
def test_extremes_say_what_every_value_does(values: list[int | None], kind: pa.DataType) -> None:
    declared = FloatType() if pa.types.is_floating(kind) else IntType()
    column = Column("a", declared, minimum=1, maximum=5)
    array = pa.chunked_array([values], kind)
    if lies_inside(array, column):
        assert all(check_domain(array, column).to_pylist())
    elif pa.types.is_integer(kind):
        assert not all(check_domain(array, column).to_pylist())


@given(st.lists(st.integers(-50, 50)), st.integers(1, 7), st.integers(1, 9))
def test_steps_are_counted(times: list[int], step: int, repeat: int) -> None:
    stamps = np.repeat(np.array(sorted(times), dtype=np.int64), repeat)
    first = np.flatnonzero(starts_of_runs(stamps))
    runs = TimeRuns(stamps[first], first, len(stamps))
    off = _off_step(runs, step)
    counted = [t // step for t in stamps.tolist()]
    some = np.arange(0, len(stamps), 3)
    for steps in (Steps(stamps, step, first), Steps(stamps, step), Steps(runs, step)):
        assert len(steps) == len(stamps)
        assert steps.at(some).tolist() == counted[::3]
        assert steps.all().tolist() == counted
        assert steps.at(some).tolist() == counted[::3]
    wrong = [t % step != 0 for t in stamps.tolist()]
    assert (off.tolist() if off is not None else [False] * len(wrong)) == wrong


TOML = """
[streams.X]
source = { format = "parquet", path = "x.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { a = "int", b = { type = "int", min = -3, max = 7 }, c = "int", d = "float" }
"""


@pytest.mark.parametrize(
    "condition",
    [
        *(f"L.a {op} {n}" for op in ("<", "<=", "=", ">=", ">", "<>") for n in (-4, 0, 3, 1 << 40)),
        "L.a < 3 AND L.a > 5",
        "L.a BETWEEN 2 AND 3",
        "L.a < 2.5 AND L.c = R.d",
        "L.a = R.b + 3 AND L.ts < R.ts",
        "L.a = R.b - 3 AND L.ts < R.ts",
        "L.a = R.b + 2.5 AND L.ts < R.ts",
        "L.a = R.b - 0.5 AND L.c = 4",
        "L.a + 2 <= L.c AND L.c < 4",
        "L.a = L.c AND L.c >= 3",
        "L.a = 3 AND R.a = L.a",
    ],
)
def test_candidates_of_conditions(condition: str, tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, TOML)
    query = parse_sql(
        f"SELECT L.a, L.c FROM X L, X R WHERE {condition}", catalog, name="q", file="q.sql"
    )
    form = normalise_query(query.disjuncts[0], distinct=False, catalog=catalog)
    numbers = list(range(-14, 15))
    table = pa.table(
        {
            "a": pa.array([*numbers, None], pa.int16()),
            "b": pa.array([max(-3, min(7, n)) for n in [*numbers, 0]], pa.int64()),
            "c": pa.array([*(n // 2 for n in numbers), 3], pa.int32()),
            "d": pa.array([*map(float, numbers), 0.0]),
        }
    )
    steps = np.arange(30)
    admitted = {"X": Admitted(Steps(steps), steps, table, 30, {})}
    pool = StringPool()
    intake = MemberBuilder(form, catalog, {}, pool)
    some, every = (_encoder(catalog, admitted, n) for n in (1, 1 << 60))
    for member in form.members:
        selection = select_candidates(member, form, catalog.streams["X"])
        found = intake.batch(member, some.arrival(member, form, pool, selection))
        wanted = intake.batch(member, every.arrival(member, form, pool, selection))
        assert _rows(found) == _rows(wanted)


@budget(1.0)
@given(seed=SEEDS)
def test_what_is_declared_of_all_rows_is_not_looked_at_again(seed: int) -> None:
    """The least and the greatest number that rows are known to keep change nothing."""
    random = Random(seed)
    case = make_case(random, markers=12, wide=random.choice([6, 40]))
    query = case.query.disjuncts[0]
    form = normalise_query(query, distinct=case.query.distinct, catalog=case.catalog)
    pool = StringPool()
    intake = MemberBuilder(form, case.catalog, encode_statics(case, form, pool), pool)
    for member in form.members:
        stream = case.catalog.streams[member.stream]
        table = arrow_table(case, member.stream)
        steps = table.column(stream.timestamp).to_numpy().astype(np.int64)
        plain = Admitted(Steps(steps), steps, table, len(steps), {})
        limits = {}
        for column in stream.columns:
            numbers = table.column(column.name).drop_null().to_pylist()
            if isinstance(column.type, IntType) and numbers:
                some = random.randrange(4)  # of some columns one end is declared, or none
                low, high = min(numbers), max(numbers)
                limits[column.name] = (low if some & 1 else None, high if some & 2 else None)
        batches = []
        for rows in (plain, replace(plain, limits=limits)):
            arrival = MemberEncoder(case.catalog, {member.stream: rows}).arrival(
                member, form, pool, ()
            )
            batches.append(_rows(intake.batch(member, arrival)))
        assert batches[0] == batches[1]


def test_limits_that_are_declared_spare_the_look(tmp_path: Path) -> None:
    """They are believed: what is not as they say is not filtered any more."""
    catalog = make_catalog(tmp_path, TOML)
    query = parse_sql("SELECT R.b FROM X R", catalog, name="q", file="q.sql")
    form = normalise_query(query.disjuncts[0], distinct=False, catalog=catalog)
    table = pa.table({"b": [-4, 0, 7, 8]})
    steps = np.arange(4)
    plain = Admitted(Steps(steps), steps, table, 4, {})
    pool = StringPool()
    intake = MemberBuilder(form, catalog, {}, pool)

    def find(limits: tuple[int | None, int | None]) -> list[int]:
        rows = replace(plain, limits={"b": limits})
        encoder = MemberEncoder(catalog, {"X": rows})
        (member,) = form.members
        batch = intake.batch(member, encoder.arrival(member, form, pool, ()))
        (column,) = (c for name, c in batch.columns.items() if name[0] == ColumnKind.VALUE)
        found: list[int] = column.tolist()
        return found

    assert find((None, None)) == [0, 7]
    assert find((-3, None)) == [-4, 0, 7]
    assert find((-4, 7)) == [0, 7, 8]
    assert find((-3, 7)) == [-4, 0, 7, 8]


def test_what_one_query_made_of_columns_serves_others(tmp_path: Path) -> None:
    """A column is encoded once for the queries that share its rows; not so what queries compute,
    though it has the same name."""
    catalog = make_catalog(tmp_path, TOML)
    table = pa.table({"a": [1, 2, 3], "b": [1, 2, 3]})
    admitted = {"X": Admitted(Steps(np.arange(3)), np.arange(3), table, 3, {})}

    def encode(text: str) -> tuple[list[int], MemberEncoder]:
        query = parse_sql(f"SELECT {text} AS n FROM X", catalog, name="q", file="q.sql")
        mine = extend_catalog(catalog, query)
        stream = mine.streams["X"]
        derived = replace(stream.columns[-1], name="n")
        mine = replace(mine, streams={"X": replace(stream, columns=(*stream.columns, derived))})
        encoder = MemberEncoder(mine, admitted)
        return encoder._encode("X", "n", 1, StringPool()).values.tolist(), encoder

    (one, first), (two, second) = encode("a + 1"), encode("a + 2")
    assert (one, two) == ([2, 3, 4], [3, 4, 5])
    pool = StringPool()
    assert first._encode("X", "a", 1, pool) is second._encode("X", "a", 1, pool)
    assert first._encode("X", "a", 2, pool).values.tolist() == [2, 4, 6]


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_some_member_wants_are_those_of_any(seed: int) -> None:
    """Of columns in several pieces; one whose values are no whole numbers says nothing."""
    random = Random(seed)
    pieces = [random.randint(0, 60) for _ in range(3)]
    kinds = {"a": pa.int8(), "b": pa.int64(), "x": pa.float64()}
    table = pa.table(
        {
            name: pa.chunked_array(
                [pa.array(random.choices(range(9), k=n), kind) for n in pieces], kind
            )
            for name, kind in kinds.items()
        }
    )
    ends = [None, *range(9)]
    selections = {
        tuple((name, random.randint(0, 8), random.choice(ends)) for name in random.sample("abx", n))
        for n in random.choices([1, 2, 3], k=random.randint(1, 4))
    }
    known = [[limits for limits in one if limits[0] != "x"] for one in selections]
    found = find_rows(table, selections)
    if not all(known):
        assert found is None
        return
    wanted = [
        n
        for n, row in enumerate(table.to_pylist())
        if any(
            all(low <= row[name] <= (8 if high is None else high) for name, low, high in one)
            for one in known
        )
    ]
    assert found is not None
    assert found.tolist() == wanted


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8"])
def test_limits_also_beyond_what_a_column_can_hold(kind: str) -> None:
    pieces = [np.array([-3, 0, 5, 100], kind), np.array([5], kind)]
    numbers = [int(n) for piece in pieces for n in piece]
    for low, high in product((None, -200, -3, 5, 6, 261, 1 << 40), repeat=2):
        if low is None and high is None:
            continue
        wanted = [(low is None or low <= n) and (high is None or n <= high) for n in numbers]
        assert _within(pieces, low, high).tolist() == wanted
