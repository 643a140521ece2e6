"""`--sink postgres`: the table has what holds, each micro-batch once. With a server of our own."""

import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from ontoweir.errors import RunError, UsageError
from ontoweir.runtime.live.output.sinks import postgres
from ontoweir.runtime.live.output.sinks.postgres import PostgresSink
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from tests.postgres_server import serve_postgres
from tests.runtime.live.test_upserts import KEY, draw_batches, make_table, replay


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server of our own."""
    with serve_postgres() as address:
        yield address


@pytest.fixture
def fresh(server: str) -> str:
    with psycopg.connect(server) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return server


def _ask(server: str, text: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(server) as connection:
        return connection.execute(text.encode()).fetchall()


@pytest.mark.parametrize("op", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_table_has_what_holds(fresh: str, seed: int, op: bool) -> None:
    random = Random(seed)
    sink = PostgresSink(fresh, keys={"q": KEY})
    sink.begin("q")
    held: dict[tuple[str | None, int], float] = {}
    for number, batch in enumerate(draw_batches(random, op=op)):
        table = make_table(batch, op=op)
        replay(batch, held)
        for _ in range(random.randint(1, 2)):  # again, after a crash
            sink.publish("q", number, table, None)
        found = _ask(fresh, 'SELECT road, lane, mean FROM "q"')
        assert {(r[0], r[1]): r[2] for r in found} == held
        assert len(found) == len(held)


def test_a_micro_batch_that_was_taken_changes_nothing(fresh: str) -> None:
    sink = PostgresSink(fresh, keys={"q": ("k",)})
    for batch, value in ((0, 1), (1, 2), (0, 1), (1, 1)):
        sink.publish("q", batch, pa.table({"k": ["a"], "n": [value]}), None)
    assert _ask(fresh, "SELECT * FROM q") == [("a", 2)]


@pytest.mark.parametrize("dropped", [True, False])
def test_a_table_that_is_gone_is_told(
    fresh: str, dropped: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also after a restart."""
    table = pa.table({"k": ["a"], "n": [1]})
    PostgresSink(fresh, keys={"q": ("k",)}).publish("q", 0, table, None)
    if dropped:
        with psycopg.connect(fresh) as connection:
            connection.execute("DROP TABLE q")
    sink = PostgresSink(fresh, keys={"q": ("k",)})
    for batch in (0, 1, 2):
        sink.publish("q", batch, table, None)
    assert capsys.readouterr().err.count("is gone, and is made anew") == dropped


def test_values_and_names(fresh: str) -> None:
    table = pa.table(
        {
            'key "k" %': ["a'b"],
            "d": [Decimal("1.50")],
            "f": [float("nan")],
            "b": [True],
            "day": [date(2026, 1, 5)],
            "count(*) %s": [1 << 62],
            "at": pa.array([datetime(2026, 1, 5, 8)], pa.timestamp("us")),
            "ts": pa.array([datetime(2026, 1, 5, 8)], pa.timestamp("us", "UTC")),
        }
    )
    sink = PostgresSink(fresh, "public.{query}-x%", {"a.b": ('key "k" %',)})
    sink.publish("a.b", 0, table, None)
    ((key, d, f, b, day, count, at, ts),) = _ask(fresh, 'SELECT * FROM public."a.b-x%"')
    assert (key, d, str(f), b, day, count) == (
        *("a'b", Decimal("1.50"), "nan", True, date(2026, 1, 5), 1 << 62),
    )
    assert at == ts == datetime(2026, 1, 5, 8, tzinfo=UTC)


def test_one_row_without_a_key(fresh: str) -> None:
    sink = PostgresSink(fresh, keys={"q": ()})
    for batch, n in enumerate((1, 2, 3)):
        sink.publish("q", batch, pa.table({"n": [n]}), None)
    assert _ask(fresh, "SELECT * FROM q") == [(3,)]
    sink.publish("q", 3, pa.table({"n": [3], "op": ["-"]}), None)
    assert _ask(fresh, "SELECT * FROM q") == []


def test_a_failed_micro_batch_is_sent_again(fresh: str) -> None:
    """Nothing of it is there, and its number is not noted."""
    sink = PostgresSink(fresh, keys={"q": ("k",)})
    sink.publish("q", 0, pa.table({"k": ["a"], "n": ["x"]}), None)
    wrong = pa.table({"k": ["b", "c"], "n": ["y", "\x00"]})
    with pytest.raises(RunError, match="cannot be sent to the table q of PostgreSQL"):
        sink.publish("q", 1, wrong, None)
    assert _ask(fresh, "SELECT * FROM q") == [("a", "x")]
    sink.publish("q", 1, pa.table({"k": ["b"], "n": ["y"]}), None)
    assert len(_ask(fresh, "SELECT * FROM q")) == 2


def test_tables_of_the_users_own(fresh: str) -> None:
    with psycopg.connect(fresh) as connection:
        connection.execute("CREATE TABLE q (n bigint, k text, more text DEFAULT 'here')")
    sink = PostgresSink(fresh, keys={"q": ("k",)})
    sink.begin("q")
    with pytest.raises(RunError) as caught:
        sink.publish("q", 0, pa.table({"k": ["a"], "n": [1]}), None)
    assert 'create a unique index over ("k")' in caught.value.fix
    with psycopg.connect(fresh) as connection:
        connection.execute("CREATE UNIQUE INDEX ON q (k)")
    for batch, n in enumerate((1, 2)):
        sink.publish("q", batch, pa.table({"k": ["a"], "n": [n]}), None)
    assert _ask(fresh, "SELECT k, n, more FROM q") == [("a", 2, "here")]


def test_a_new_run_needs_an_empty_table(fresh: str) -> None:
    sink = PostgresSink(fresh, keys={"q": ("k",)})
    sink.begin("q")
    sink.publish("q", 7, pa.table({"k": ["a"], "n": [1]}), None)
    with pytest.raises(UsageError, match="the table q of PostgreSQL has rows"):
        sink.begin("q")
    with psycopg.connect(fresh) as connection:
        connection.execute("TRUNCATE q")
    sink.begin("q")  # and the numbers of the run before are forgotten
    sink.publish("q", 0, pa.table({"k": ["b"], "n": [1]}), None)
    assert _ask(fresh, "SELECT k FROM q") == [("b",)]


def test_names_that_do_not_do() -> None:
    with pytest.raises(UsageError, match="too long for the name of a table"):
        PostgresSink("postgresql:///x", keys={}).begin("q" * 64)
    with pytest.raises(UsageError, match="the answers of several queries"):
        PostgresSink("postgresql:///x", "t", {"q": (), "p": ()}).begin("q")


def test_a_server_that_is_not_there() -> None:
    sink = PostgresSink("postgresql://u:hush@127.0.0.1:9/x", keys={"q": ("k",)})
    with pytest.raises(RunError, match="answers cannot be sent") as caught:
        sink.begin("q")
    assert "hush" not in str(caught.value)
    with pytest.raises(RunError, match="answers cannot be sent"):
        sink.publish("q", 0, pa.table({"k": [1]}), None)
    assert sink.redact("hush postgresql://u:hush@127.0.0.1:9/x") == "*** ***"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dsn": "http://x/"}, "is no connection"),
        ({"dsn": "postgresql:///x", "key": "k"}, "has no option key"),
        ({"dsn": "postgresql:///x", "table": "a..b"}, "is 'a..b'"),
        ({"dsn": "postgresql:///x", "table": "a.b.c"}, "is 'a.b.c'"),
        ({"dsn": ""}, "needs the option dsn"),
    ],
)
def test_wrong_options(tmp_path: Path, options: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_sink("postgres", tmp_path, options)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError) as caught:
        make_sink("postgres", tmp_path, {"dsn": "postgresql:///x"})
    assert "pip install 'ontoweir[postgres]'" in caught.value.fix
