"""What scripts declare, and what of it cannot be read as streams."""

from pathlib import Path

import pytest

from ontoweir.errors import OntoweirError, QueryError, UsageError
from ontoweir.pipeline.compiling.compile_sql import compile_sql
from ontoweir.scaffold.scripts.read_scripts import Dialect, Scripts, read_scripts

STREAM = """CREATE TABLE s (a BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka');
"""


def _read(folder: Path, text: str, dialect: Dialect | None = None) -> Scripts:
    file = folder / "job.sql"
    file.write_text(text)
    return read_scripts([file], dialect=dialect)


def _refuse(scripts: Scripts) -> OntoweirError:
    """Why the first statement is refused, as `check` says it."""
    one = scripts.asked[0]
    with pytest.raises(QueryError) as caught:
        compile_sql(one.body, scripts.catalog, name=one.name, file=one.source.file)
    return scripts.explain(caught.value)


def test_streams_and_relations(tmp_path: Path) -> None:
    scripts = _read(
        tmp_path,
        f"""{STREAM}
        CREATE TABLE later (b INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
        WITH ('connector' = 'kafka');
        CREATE TABLE p (c INT, here AS PROCTIME()) WITH ('connector' = 'kafka');
        CREATE TABLE n (c INT) WITH ('connector' = 'datagen');
        CREATE TABLE r (c INT, PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'jdbc');
        CREATE TABLE f (c INT) WITH ('connector' = 'filesystem', 'streaming' = 'false');
        CREATE TABLE g (c INT)
        WITH ('connector' = 'filesystem', 'source.monitor-interval' = '1 min');
        CREATE TABLE like_s WITH ('topic' = 'other') LIKE s (EXCLUDING OPTIONS);
        SELECT a FROM s;""",
    )
    streams = scripts.catalog.streams
    times = {name: s.timestamp for name, s in streams.items()}
    arriving = {"n": "arrival_time", "g": "arrival_time"}
    assert times == {"s": "ts", "later": "ts", "p": "here", "like_s": "ts"} | arriving
    assert set(scripts.catalog.relations) == {"r", "f"}
    assert {s.step_us for s in streams.values()} == {1000}
    assert streams["later"].source is not None
    assert streams["later"].source.line == 4
    assert scripts.catalog.relations["r"].keys == (("c",),)
    (note,) = scripts.notes
    assert "the watermark of later stays 5 seconds behind" in note


@pytest.mark.parametrize(
    ("table", "dialect", "why"),
    [
        ("(a INT) WITH ('connector' = 'upsert-kafka')", None, "its rows change"),
        ("(a INT) WITH ('connector' = 'mysql-cdc')", None, "its rows change"),
        ("(a INT) WITH ('connector' = 'kafka', 'format' = 'debezium-json')", None, "rows change"),
        ("(a INT) WITH ('connector' = 'kafka', 'value.format' = 'canal-json')", None, "rows chang"),
        ("(a INT PRIMARY KEY, ts TIMESTAMP LATENESS INTERVAL 1 HOUR)", "feldera", "replaces the"),
        ("FROM KAFKA CONNECTION c (TOPIC 'x')", "materialize", "its columns are not in the script"),
        ("LIKE unheard", None, "it is like unheard"),
        ("(a INT, b ROW<c INT)", "spark", "not SQL that is known"),
    ],
)
def test_tables_that_are_no_streams(
    table: str, dialect: Dialect | None, why: str, tmp_path: Path
) -> None:
    """A query of one is refused, with the reason; others go on."""
    scripts = _read(tmp_path, f"{STREAM}CREATE TABLE t {table};\nSELECT a FROM t;", dialect)
    error = _refuse(scripts)
    assert error.what == "t cannot be read"
    assert why in error.why
    assert "--catalog" in error.fix
    assert error.source is not None
    assert error.source.line == 4


def test_what_is_not_there_is_unknown(tmp_path: Path) -> None:
    assert _refuse(_read(tmp_path, f"{STREAM}SELECT a FROM u")).what == "unknown table 'u'"


def test_feldera_and_risingwave(tmp_path: Path) -> None:
    feldera = (
        "CREATE TABLE s (a INT, seen TIMESTAMP, ts TIMESTAMP NOT NULL LATENESS INTERVAL 1 HOUR);"
    )
    for dialect in ("feldera", None):
        scripts = _read(tmp_path, f"{feldera} SELECT a FROM s", dialect)
        assert scripts.catalog.streams["s"].timestamp == "ts"
        (note,) = scripts.notes
        assert "the watermark of s stays 1 hour behind" in note
    wave = "CREATE SOURCE s (a INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)"
    scripts = _read(tmp_path, f"{wave} WITH (connector='kafka'); SELECT a FROM s", "risingwave")
    assert scripts.catalog.streams["s"].timestamp == "ts"


@pytest.mark.parametrize("dialect", ["feldera", "risingwave", "materialize", "flink"])
def test_a_timestamp_without_a_watermark_is_no_time(dialect: Dialect, tmp_path: Path) -> None:
    """Nothing says that rows come in its order, so no window over it bounds what is kept."""
    table = "CREATE TABLE s (a INT, ts TIMESTAMP);"
    scripts = _read(tmp_path, f"{table} SELECT a FROM s", dialect)
    stream = scripts.catalog.streams["s"]
    assert (stream.timestamp, [c.name for c in stream.columns]) == ("arrival_time", ["a", "ts"])
    assert not scripts.notes


def test_an_order_that_is_taken_for_granted_is_said(tmp_path: Path) -> None:
    scripts = _read(tmp_path, "CREATE TABLE s (a INT, ts TIMESTAMP); SELECT a FROM s")
    (note,) = scripts.notes
    assert "are taken to come in the order of ts" in note


def test_views_of_their_own(tmp_path: Path) -> None:
    """Those that nothing reads, and those that are kept."""
    scripts = _read(
        tmp_path,
        f"""{STREAM}
        CREATE VIEW part AS SELECT a, ts FROM s;
        CREATE MATERIALIZED VIEW kept AS SELECT a FROM part;
        CREATE VIEW alone AS SELECT a FROM kept;
        INSERT INTO out SELECT a FROM PART;
        INSERT INTO out SELECT a FROM s;""",
    )
    assert [a.name for a in scripts.asked] == ["kept", "alone", "out", "out-8"]
    assert set(scripts.catalog.views) == {"part", "kept", "alone"}


def test_a_view_with_names_beside_its_query(tmp_path: Path) -> None:
    error = _refuse(
        _read(tmp_path, f"{STREAM}CREATE VIEW v (b) AS SELECT a FROM s; SELECT b FROM v")
    )
    assert (error.what, error.fix) == ("v cannot be read", "give them in its SELECT, with AS")


def test_several_files(tmp_path: Path) -> None:
    """The ones before are known to those after them; verdicts are in their order."""
    (tmp_path / "z.sql").write_text(f"{STREAM}SELECT a FROM s")
    (tmp_path / "a.sql").write_text("\nINSERT INTO x SELECT a FROM s")
    scripts = read_scripts([tmp_path / "z.sql", tmp_path / "a.sql"])
    assert [(a.name, a.source.line) for a in scripts.asked] == [("z-3", 3), ("x", 2)]


@pytest.mark.parametrize("text", ["", STREAM, f"{STREAM}SET a = 1;"])
def test_nothing_is_asked(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="asks for nothing"):
        _read(tmp_path, text)


def test_a_view_alone_is_asked(tmp_path: Path) -> None:
    scripts = _read(tmp_path, f"{STREAM}CREATE VIEW v AS SELECT a FROM s")
    assert [a.name for a in scripts.asked] == ["v"]


def test_tables_by_their_whole_names(tmp_path: Path) -> None:
    """They are known by the last part; places in the text stay."""
    text = "SELECT q.a, q.nothing FROM `cat`.`db`.`s` q WHERE q.a IN (1, 2)"
    scripts = _read(tmp_path, f"{STREAM}{text}")
    assert scripts.asked[0].body.strip() == text.replace("`cat`.`db`.`s`", "`s`           ")
    error = _refuse(scripts)
    assert error.what == "unknown column 'nothing' of 's'"


@pytest.mark.parametrize(("dialect", "named"), [("risingwave", True), ("spark", False)])
def test_double_quotes_are_names_but_in_spark(
    dialect: Dialect, named: bool, tmp_path: Path
) -> None:
    text = """SELECT "a" FROM s WHERE b <> 'say "a"' -- "a" """
    body = _read(tmp_path, f"CREATE TABLE s (a INT);{text}", dialect).asked[0].body
    assert body.startswith("SELECT `a` FROM s") == named
    assert """'say "a"' -- "a" """.strip() in body
