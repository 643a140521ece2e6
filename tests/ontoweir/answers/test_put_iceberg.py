"""`replay` into tables of Iceberg: made, or replaced, in one transaction."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.table import Transaction

from ontoweir.answers import put_iceberg
from tests.ontoweir.conftest import Ran, Run

QUERY = "hot-readings"


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    assert run("init", tmp_path / "p", "-q").code == 0
    return tmp_path / "p"


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    monkeypatch.setattr(
        "pyiceberg.catalog._ENV_CONFIG.config",
        {
            "catalog": {
                "lake": {
                    "type": "sql",
                    "uri": f"sqlite:///{tmp_path}/catalog.db",
                    "warehouse": f"file://{tmp_path}/lake",
                }
            }
        },
    )
    made = load_catalog("lake")
    made.create_namespace("n")
    return made


def _replay(run: Run, project: Path, table: str, *more: str) -> Ran:
    given = ("--query", QUERY, "-q", "--format", "iceberg", "--catalog", "lake")
    return run("replay", project, *given, "--output", table, *more)


def _rows(table: pa.Table) -> list[dict[str, object]]:
    return sorted(table.cast(table.schema).to_pylist(), key=repr)


def test_a_table_is_made_and_replaced(
    run: Run, project: Path, tmp_path: Path, catalog: Catalog
) -> None:
    for start in ([], ["--from", "2026-01-05T09:00:00Z"], []):
        file = tmp_path / "a.parquet"
        assert run("replay", project, "--query", QUERY, "--output", file, *start).code == 0
        ran = _replay(run, project, "n.hot", *start)
        assert ran.code == 0, ran.err
        table = catalog.load_table("n.hot")
        found = table.scan().to_arrow()
        assert found.schema.field("at").type == pa.timestamp("us", "UTC")
        wanted = pq.read_table(file)
        assert wanted.num_rows > 5
        assert _rows(found.cast(wanted.schema)) == _rows(wanted)


def test_what_is_refused(run: Run, project: Path, catalog: Catalog) -> None:
    other = catalog.create_table("n.other", pa.schema({"x": pa.int64()}))
    other.append(pa.table({"x": [1]}))
    live = catalog.create_table("n.live", pa.schema({"x": pa.int64()}))
    with live.transaction() as transaction:
        transaction.set_properties({"ontoweir.batch": "3"})
    for table, code, said in (
        ("n.other", 2, "has other columns: x"),
        ("n.live", 2, "a live run writes into it"),
        ("hot", 2, "is no name of an Iceberg table"),
        ("lake/n.hot", 2, "is no name of an Iceberg table"),
        ("none.hot", 3, "cannot be written"),
    ):
        ran = _replay(run, project, table)
        assert (ran.code, said in ran.err) == (code, True), ran.err
    assert other.refresh().scan().to_arrow().to_pydict() == {"x": [1]}
    ran = run("replay", project, "--query", QUERY, "--output", "a.csv", "--catalog", "lake")
    assert (ran.code, "--catalog is without --format iceberg" in ran.err) == (2, True)


def test_a_commit_that_fails_leaves_the_table(
    run: Run, project: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _replay(run, project, "n.hot").code == 0
    before = _rows(catalog.load_table("n.hot").scan().to_arrow())

    def fail(_: Transaction) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "commit_transaction", fail)
        ran = _replay(run, project, "n.hot", "--from", "2026-01-05T09:00:00Z")
    assert (ran.code, "no room" in ran.err) == (3, True)
    assert _rows(catalog.load_table("n.hot").scan().to_arrow()) == before


def test_without_pyiceberg(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(put_iceberg, "find_spec", lambda _: None)
    ran = _replay(run, project, "n.hot")
    assert (ran.code, "pip install 'ontoweir[iceberg]'" in ran.err) == (2, True)
