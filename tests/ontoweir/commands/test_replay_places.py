"""`replay` into tables of Delta, and what neither tables nor objects of stores may be."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from ontoweir.errors import RunError, UsageError
from ontoweir.project.project import load_project
from ontoweir.project.refuse_places import refuse_places
from ontoweir.runtime.packed import write_delta
from ontoweir.runtime.packed.write_delta import putting_table
from tests.ontoweir.conftest import Ran, Run

QUERY = "hot-readings"


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    assert run("init", tmp_path / "p", "-q").code == 0
    return tmp_path / "p"


def _replay(run: Run, project: Path, place: object, *more: str) -> Ran:
    return run(
        *("replay", project, "--query", QUERY, "-q", "--format", "delta", "--output", place), *more
    )


def test_a_table_is_made_and_replaced(run: Run, project: Path, tmp_path: Path) -> None:
    place = tmp_path / "hot"
    write_deltalake(str(place), pa.table({"other": [1]}))
    assert run("replay", project, "--query", QUERY, "--output", tmp_path / "a.parquet").code == 0
    wanted = pq.read_table(tmp_path / "a.parquet")
    for version in (1, 2):
        ran = _replay(run, project, place)
        assert ran.code == 0, ran.err
        table = DeltaTable(str(place))
        assert table.version() == version
        found = table.to_pyarrow_table()
        assert found.schema.field("at").type == pa.timestamp("us", "UTC")
        assert found.cast(wanted.schema).sort_by(
            [("at", "ascending"), ("sensor", "ascending")]
        ) == (
            wanted.replace_schema_metadata(None).sort_by(
                [("at", "ascending"), ("sensor", "ascending")]
            )
        )
    assert DeltaTable(str(place), version=0).to_pyarrow_table().to_pydict() == {"other": [1]}
    assert _replay(run, project, tmp_path / "fresh").code == 0
    assert DeltaTable(str(tmp_path / "fresh")).version() == 0


def test_places_that_are_refused(run: Run, project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    live = tmp_path / "live"
    for query in (QUERY, "another"):
        noted = CommitProperties(app_transactions=[Transaction(f"ontoweir:{query}", 3)])
        write_deltalake(str(live / query), pa.table({"n": [1]}), commit_properties=noted)
    for place, said in (
        (project, "the folder has something else"),
        (tmp_path / "file", "that is a file"),
        (tmp_path / "none" / "q", "there is no folder"),
        ("-", "a table is a folder"),
        (live / QUERY, f"a live run of {QUERY} writes into it"),
    ):
        ran = _replay(run, project, place)
        assert (ran.code, said in ran.err) == (2, True), ran.err
    assert DeltaTable(str(live / QUERY)).version() == 0
    assert _replay(run, project, live / "another").code == 0  # the twin


def test_a_replay_that_fails_leaves_the_table(tmp_path: Path) -> None:
    place = str(tmp_path / "t")
    write_deltalake(place, pa.table({"n": [1]}))

    def fail(error: type[BaseException] | None) -> None:
        with putting_table(place) as file:
            Path(file).write_text("no Parquet")
            if error is not None:
                raise error

    with pytest.raises(KeyboardInterrupt):
        fail(KeyboardInterrupt)
    with pytest.raises(RunError, match="cannot be written"):
        fail(None)
    assert DeltaTable(place).to_pyarrow_table().to_pydict() == {"n": [1]}


def test_without_deltalake(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_delta, "find_spec", lambda _: None)
    ran = _replay(run, project, tmp_path / "hot")
    assert (ran.code, "pip install 'ontoweir[delta]'" in ran.err) == (2, True)
    assert not (tmp_path / "hot").exists()


@pytest.mark.parametrize(
    ("data", "place", "refused"),
    [
        ("s3a://lake/in/*.parquet", "s3://me:hush@lake/in/a.parquet?scheme=http", True),
        ("s3://lake/in", "s3://lake/in/a.parquet", True),
        ("s3://lake/in/", "s3://lake/in", True),
        ("s3://lake/in", "s3://lake/inner/a.parquet", False),
        ("s3://lake/in/*.parquet", "s3://lake/out/a.parquet", False),
        ("s3://lake/in", "gs://lake/in/a.parquet", False),
        ("abfss://in@account/x", "abfs://in@account/x/a.csv", True),
        ("abfss://in@account/x", "abfs://out@account/x/a.csv", False),
        ("gs://lake/a.csv", "gcs://lake/a.csv", True),
        ("data/in", "data/in", True),
        ("data/in", "data", True),
        ("data/in", "data/out", False),
    ],
)
def test_data_is_not_written_over(
    project: Path, monkeypatch: pytest.MonkeyPatch, data: str, place: str, refused: bool
) -> None:
    monkeypatch.chdir(project)
    made = project / "one.toml"
    made.write_text(
        f"""[project]
queries = []
[streams.s]
source = {{ format = "parquet", path = "{data}" }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ k = "bigint" }}
"""
    )
    loaded = load_project(made, environ={})
    if not refused:
        refuse_places(loaded, place)
        return
    with pytest.raises(UsageError, match="it is read as data of s") as error:
        refuse_places(loaded, place)
    assert "hush" not in str(error.value)
