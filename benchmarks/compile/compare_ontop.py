"""Compare with Ontop: the SQL that queries become, the CPU it takes, and the answers.

    .venv/bin/python benchmarks/compile/compare_ontop.py [--suite npd|traffic] [--runs 3]

Ontop and H2 are fetched from Maven Central into ~/.cache/ontoweir; Java and mvn are needed. The
table is Markdown, for docs/comparison.md. The NPD benchmark lies beside the project
(../shared/suites/npd) and has no data; ORDER BY and LIMIT are left out of its queries, and the
prefix xsd: is declared where it is missing, for both.
The traffic example has a day of forty sensors: in H2 a reading has its time as a whole number of
seconds, and `GRAPH ?t { ?x … }` is `?x <urn:holds-at> ?t` of each reading in it. Seconds are those
of CPU, the least of the runs, with ontology and mappings read before: parsing, rewriting and
printing of a query. SQL is ours by `rewrite --show sql`, Ontop's for H2, both without comments.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import process_time
from urllib.parse import unquote

import duckdb
import pyarrow.parquet as pq
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from ontoweir.errors import OntoweirError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.run.replay_query import ReplayOptions, replay_query

ROOT = Path(__file__).resolve().parents[2]
NPD = ROOT.parent / "shared" / "suites" / "npd"
XSD = "http://www.w3.org/2001/XMLSchema#"
TRAFFIC = ROOT / "examples" / "traffic"
sys.path.insert(0, str(ROOT))

from tests.ontop.run_ontop import OntopAnswer, ask_ontop, fetch  # noqa: E402


@dataclass(frozen=True, slots=True)
class Row:
    """A query: of either, the SQL and the seconds to make it; ours to decide the query; and what
    there is to say about the answers."""

    query: str
    ours: str
    our_seconds: float
    check_seconds: float
    theirs: OntopAnswer
    answers: str


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--suite", choices=("npd", "traffic"), action="append")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    fetch()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for suite in options.suite or ("npd", "traffic"):
            place = Path(folder) / suite
            (place / "queries").mkdir(parents=True)
            if suite == "traffic":
                rows += print_table("Traffic", compare_traffic(place, options.runs))
            elif NPD.is_dir():
                rows += print_table("NPD", compare_npd(place, options.runs))
            else:
                print(f"the NPD benchmark is not at {NPD}", file=sys.stderr)
    if rows:
        print(f"\nAll: {summarise(rows)}")
    return 0


def print_table(title: str, rows: list[Row]) -> list[Row]:
    """The comparison in Markdown; the rows of queries that both accept."""
    print(f"\n| {title} | bytes of SQL | Ontop | SELECTs | Ontop | CPU s | Ontop | answers |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for row in rows:
        cells: list[str] = []
        for sql, seconds in ((row.ours, row.our_seconds), (row.theirs.sql, row.theirs.seconds)):
            size, count = f"{len(sql.encode()):,}", len(re.findall(r"\bSELECT\b", sql))
            cells += [size, str(count), f"{seconds:.2f}"] if sql else ["", "", ""]
        ours, theirs = cells[:3], cells[3:]
        each = (c for pair in zip(ours, theirs, strict=True) for c in pair)
        print(f"| {row.query} | {' | '.join(each)} | {row.answers} |")
    both = [row for row in rows if row.ours and row.theirs.sql]
    if both:
        print(f"\n{title}: {summarise(both)}")
    return both


def summarise(rows: list[Row]) -> str:
    """Sizes and times in one sentence."""
    ratios = [len(row.ours) / len(row.theirs.sql) for row in rows]
    return (
        f"the SQL of {len(rows)} queries is {median(ratios):.2f} × Ontop's in the median, at most "
        f"{max(ratios):.1f} ×; to rewrite one takes at most "
        f"{max(row.our_seconds for row in rows):.2f} s of CPU, to decide it "
        f"{max(row.check_seconds for row in rows):.2f} s; to rewrite one, Ontop "
        f"{max(row.theirs.seconds for row in rows):.2f} s."
    )


def rewrite(workspace: Workspace, name: str, runs: int) -> tuple[str, float, float]:
    """The SQL of a query, and the least seconds of CPU to make it, and to decide the query."""
    catalog, seconds, checking, sql = workspace.project.catalog, float("inf"), float("inf"), ""
    for _ in range(runs):
        begun = process_time()
        compiled = workspace.compile(name)
        sql = print_sql(compiled.union, catalog, dialect="duckdb", comments=False)
        seconds = min(seconds, process_time() - begun)
        begun = process_time()
        workspace.check(compiled)
        checking = min(checking, process_time() - begun)
    return sql, seconds, checking


# -- NPD -----------------------------------------------------------------------------------------


def compare_npd(folder: Path, runs: int) -> list[Row]:
    """The queries of the NPD benchmark: sizes and times."""
    schema = (NPD / "npd-schema.psql").read_text(encoding="utf-8")
    keys = (NPD / "npd-fkeys.psql").read_text(encoding="utf-8")
    tables = re.findall(r"^CREATE TABLE.*?^\);", schema, re.MULTILINE | re.DOTALL)
    foreign = re.findall(r"^ALTER TABLE .* FOREIGN KEY .*?\)(?= DEFERRABLE)", keys, re.MULTILINE)
    write(folder / "tables.sql", "\n".join([*tables, *(f"{line};" for line in foreign)]))
    write(folder / "ontology.owl", (NPD / "npd-v2-ql.owl").read_text(encoding="utf-8"))
    mapping = (NPD / "npd-v2-ql.r2rml").read_text(encoding="utf-8")
    write(folder / "mapping.ttl", quote_names(mapping))
    for file in sorted((NPD / "queries").glob("*.rq")):
        text = file.read_text(encoding="utf-8")
        plain = re.sub(r"ORDER\s+BY.*|LIMIT\s+\d+", "", text, flags=re.IGNORECASE)
        prefix = "" if "PREFIX xsd:" in plain else f"PREFIX xsd: <{XSD}>\n"
        write(folder / "queries" / file.name, prefix + plain)
    catalog = "".join(map(declare_relation, tables))
    head = 'ontology = ["ontology.owl"]\nmappings = ["mapping.ttl"]\nqueries = ["queries/*.rq"]\n'
    write(folder / "ontoweir.toml", f"[project]\n{head}{catalog}")
    workspace = Workspace(load_project(folder, environ={}), partial=True)
    _ = workspace.mappings  # read before the first query
    (told,) = ask_ontop([folder], runs=runs)
    rows = []
    for name, theirs in told.items():
        try:
            ours, seconds, checking = rewrite(workspace, name, runs)
            said = ""
        except OntoweirError as error:
            ours, seconds, checking, said = "", 0.0, 0.0, f"refused: {error.what}"
        rows.append(Row(name, ours, seconds, checking, theirs, said))
    return rows


def quote_names(mapping: str) -> str:
    """The mapping with all names in quotes: without them they are lower case in PostgreSQL, for
    which it was written, and upper case in H2."""

    def quote_sql(found: re.Match[str]) -> str:
        tree = sqlglot.parse_one(found[1].replace('\\"', '"'), read="postgres")
        sql = normalize_identifiers(tree, dialect="postgres").sql("postgres", identify=True)
        return f'rr:sqlQuery "{sql.replace(chr(34), chr(92) + chr(34))}"'

    def quote_column(found: re.Match[str]) -> str:
        return f'{found[1]}\\"{found[2].lower()}\\"{found[3]}'

    mapping = re.sub(r'rr:sqlQuery "((?:[^"\\]|\\.)*)"', quote_sql, mapping)
    mapping = re.sub(r'(rr:column ")(\w+)(")', quote_column, mapping)
    return re.sub(r"(\{)(\w+)(\})", quote_column, mapping)


def declare_relation(text: str) -> str:
    """A table as a static relation of the catalog."""
    table = sqlglot.parse_one(text.rstrip(";"), read="postgres")
    assert isinstance(table, exp.Create)
    name = table.find(exp.Table)
    assert name is not None
    columns = [f'"{c.name}" = "{declare_type(c.kind)}"' for c in table.this.find_all(exp.ColumnDef)]
    primary = table.find(exp.PrimaryKey)
    keys = [] if primary is None else [e.name for e in primary.expressions]
    named = f"keys = [{keys}]\n" if keys else ""
    return (
        f'[relations."{name.name}"]\nsource = {{ format = "csv", path = "{name.name}.csv" }}\n'
        f'{named}[relations."{name.name}".columns]\n' + "\n".join(columns) + "\n"
    )


def declare_type(kind: exp.DataType | None) -> str:
    """A type of the catalog."""
    assert kind is not None
    match kind.this:
        case exp.DataType.Type.INT | exp.DataType.Type.BIGINT:
            return "int"
        case exp.DataType.Type.DATE:
            return "date"
        case exp.DataType.Type.DECIMAL:
            return f"decimal({','.join(e.name for e in kind.expressions)})"
        case _:
            return "string"


# -- traffic -------------------------------------------------------------------------------------


def compare_traffic(folder: Path, runs: int) -> list[Row]:
    """The example's queries over a day of forty sensors: sizes, times, and bags of answers."""
    data = folder / "data"
    made = ["--output", str(data), "--sensors", "40", "--days", "1", "--seed", "1"]
    subprocess.run([sys.executable, str(TRAFFIC / "generate.py"), *made], check=True)
    write(folder / "tables.sql", make_tables(data))
    write(folder / "ontology.ttl", (TRAFFIC / "traffic.ttl").read_text(encoding="utf-8"))
    mapping = (TRAFFIC / "traffic.r2rml.ttl").read_text(encoding="utf-8")
    write(folder / "mapping.ttl", mapping + TIMES)
    for file in sorted((TRAFFIC / "queries").glob("*.rq")):
        text = file.read_text(encoding="utf-8")
        write(folder / "queries" / file.name, translate_times(text))
    (told,) = ask_ontop([folder], runs=runs)
    settings = {
        "ONTOWEIR_STREAMS__TRAFFIC__SOURCE__PATH": str(data / "traffic"),
        "ONTOWEIR_RELATIONS__SENSOR__SOURCE__PATH": str(data / "sensor.csv"),
    }
    workspace = Workspace(load_project(TRAFFIC, environ=settings))
    _ = workspace.mappings
    rows = []
    for name, theirs in told.items():
        ours, seconds, checking = rewrite(workspace, name, runs)
        output = folder / f"{name}.parquet"
        options = ReplayOptions(output, allow_unbounded=True, progress=False, final=True)
        replay_query(workspace, workspace.compile(name), options)
        said = "Ontop refuses it" if theirs.error else compare_answers(output, theirs)
        rows.append(Row(name, ours, seconds, checking, theirs, said))
    return rows


TIMES = """
<Time> a rr:TriplesMap ;
    rr:logicalTable [ rr:tableName "traffic" ] ;
    rr:subjectMap [ rr:template "http://traffic.example/reading/{id}" ] ;
    rr:predicateObjectMap [ rr:predicate <urn:holds-at> ; rr:objectMap [ rr:column "ts" ] ] .
"""


def translate_times(text: str) -> str:
    """A query in which a time is a value of each reading, in seconds."""

    def say_when(found: re.Match[str]) -> str:
        readings = re.findall(r"(\?\w+)\s+(?:a\s+:\w*(?:Reading|Disturbance)|:average)", found[2])
        times = "".join(f"{r} <urn:holds-at> {found[1]} . " for r in dict.fromkeys(readings))
        return f"{{ {times}{found[2]}}}"

    text = re.sub(r"GRAPH (\?\w+) \{(.*?)\}", say_when, text, flags=re.DOTALL)
    lengths = {"M": 60, "H": 3600, "D": 86400}
    text = re.sub(
        r'"PT?(\d+)([MHD])"\^\^xsd:dayTimeDuration',
        lambda m: str(int(m[1]) * lengths[m[2]]),
        text,
    )
    return re.sub(
        r'"([^"]*)"\^\^xsd:dateTime',
        lambda m: str(int(datetime.fromisoformat(m[1]).replace(tzinfo=UTC).timestamp())),
        text,
    )


def make_tables(data: Path) -> str:
    """The tables of the example in SQL, with the keys and references of its catalog."""
    base = duckdb.connect()
    base.execute(f"CREATE TABLE sensor AS FROM read_csv('{data / 'sensor.csv'}', header = true)")
    view = load_project(TRAFFIC, environ={}).catalog.relations["road"].data.view
    base.execute(f"CREATE TABLE road AS {view}")
    files = f"read_parquet('{data / 'traffic'}/*.parquet')"
    base.execute(f"CREATE TABLE traffic AS SELECT DISTINCT ON (id, ts) * FROM {files}")
    names = "id, epoch(ts)::BIGINT AS ts, report_id, avg_speed, vehicle_count, avg_measured_time"
    sensors = (
        "REPORT_ID, POINT_1_STREET, POINT_1_CITY, ROAD_TYPE, NDT_IN_KMH, DISTANCE_IN_METERS, "
        "DURATION_IN_SEC"
    )
    parts = [SCHEMA]
    for table, query in (
        ("sensor", f"SELECT {sensors} FROM sensor"),
        ("road", "SELECT street, city, road_type, normal_speed FROM road"),
        ("traffic", f"SELECT {names}, status FROM traffic WHERE avg_speed BETWEEN 0 AND 250"),
    ):
        parts += (
            f"INSERT INTO {table} VALUES ({', '.join(map(quote, row))});"
            for row in base.execute(query).fetchall()
        )
    return "\n".join(parts)


SCHEMA = """
CREATE TABLE sensor (REPORT_ID INT PRIMARY KEY, POINT_1_STREET VARCHAR(80),
  POINT_1_CITY VARCHAR(80), ROAD_TYPE VARCHAR(20), NDT_IN_KMH INT, DISTANCE_IN_METERS INT,
  DURATION_IN_SEC INT);
CREATE TABLE road (street VARCHAR(80) PRIMARY KEY, city VARCHAR(80), road_type VARCHAR(20),
  normal_speed INT);
CREATE TABLE traffic (id BIGINT, ts BIGINT, report_id INT REFERENCES sensor, avg_speed INT,
  vehicle_count INT, avg_measured_time INT, status VARCHAR(10), PRIMARY KEY (id, ts));
CREATE INDEX by_time ON traffic (ts);
"""


def quote(cell: object) -> str:
    """A value in SQL."""
    if cell is None:
        return "NULL"
    return str(cell) if isinstance(cell, int) else "'" + str(cell).replace("'", "''") + "'"


def compare_answers(output: Path, theirs: OntopAnswer) -> str:
    """Whether the answers of a replay are Ontop's, as bags."""
    ours: Counter[tuple[str, ...]] = Counter()
    for row in pq.read_table(output).to_pylist():
        ours[plain(row[name] for name in theirs.names)] += row.get("multiplicity", 1)
    found = Counter(plain(row) for row in theirs.rows)
    if ours == found:
        return f"{ours.total():,}, equal"
    sets = "equal sets" if ours.keys() == found.keys() else "different sets"
    return f"{ours.total():,} and {found.total():,}: {sets}"


def plain(cells: Iterable[object]) -> tuple[str, ...]:
    """Cells as texts, numbers in one form."""
    texts = (unquote(str(cell)) for cell in cells)
    return tuple(f"{float(t):.10g}" if re.fullmatch(r"-?[\d.]+", t) else t for t in texts)


def write(file: Path, text: str) -> None:
    """Write a text."""
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
