"""The projects of replay_matrix.py: one stream of readings in many shapes, from a seed."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

FORMATS = ("parquet", "csv", "jsonl")
SHAPES = ("int", "text", "uuid", "decimal", "double", "nulls", "wide", "unordered")
BESIDE = 200
"""Columns that no query uses, of the shape `wide`."""
DEVICES = 300
PER_SECOND = 100
SETTLED_S = 2.1
"""What changed within the last two seconds is not taken for verified."""

QUERIES = {
    "filter": "SELECT device, level FROM readings WHERE level = 99 AND device IS NOT NULL",
    "join": """SELECT count(*) AS n FROM readings a, readings b
        WHERE a.device = b.device AND a.ts < b.ts AND a.level = 99 AND b.level = 1""",
    "three": """SELECT count(*) AS n FROM readings a, readings b, readings c
        WHERE a.device = b.device AND b.device = c.device AND a.ts < b.ts AND b.ts < c.ts
        AND a.level = 99 AND b.level = 1 AND c.level = 99""",
    "aggregate": "SELECT device, count(*) AS n, max(value) AS most FROM readings GROUP BY device",
    "distinct": "SELECT DISTINCT device FROM readings WHERE level = 99 AND device IS NOT NULL",
}

_EARLIER = "OVER (PARTITION BY device ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
_EARLIER += " EXCLUDE GROUP)"
BY_HAND = QUERIES | {
    "join": f"""SELECT sum(n) AS n FROM (SELECT level, count(*) FILTER (level = 99) {_EARLIER} AS n
        FROM readings WHERE level IN (1, 99) AND device IS NOT NULL) WHERE level = 1""",
    "three": f"""SELECT sum(m) AS n FROM (SELECT level, sum(n) FILTER (level = 1) {_EARLIER} AS m
        FROM (SELECT device, ts, level, count(*) FILTER (level = 99) {_EARLIER} AS n
        FROM readings WHERE level IN (1, 99) AND device IS NOT NULL)) WHERE level = 99""",
}
"""What somebody writes who knows that the whole history is there: each row is looked at once."""
MAPPED = {
    "iris": "SELECT ?d WHERE { GRAPH ?t { ?d :level 99 } }",
    "iri_count": "SELECT ?d (COUNT(*) AS ?n) WHERE { GRAPH ?t { ?d :level 99 } } GROUP BY ?d",
}
"""The same through a mapping, in SPARQL: a device is an IRI of its text, and what it measured a
value of a property, at most one a second."""
_IRI = "'http://example.org/device/' || device"
BY_HAND |= {
    "iris": f"SELECT {_IRI} AS d FROM readings WHERE level = 99 AND device IS NOT NULL",
    "iri_count": f"""SELECT {_IRI} AS d, count(*) AS n FROM readings
        WHERE level = 99 AND device IS NOT NULL GROUP BY device""",
}
ASKED = (*QUERIES, *MAPPED)
_MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix : <http://example.org/> .
[] rr:logicalTable [ rr:tableName "readings" ] ;
   rr:subjectMap [ rr:template "http://example.org/device/{device}" ] ;
   rr:predicateObjectMap [ rr:predicate :level ; rr:objectMap [ rr:column "level" ] ] .
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A stream in a format, in a shape, with so many rows."""

    form: str
    shape: str
    rows: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.form}-{self.shape}-{self.rows}"


def make_case(case: Case, home: Path) -> Path:
    """The folder of a case, which is made if it is not there. Then it is waited for: what changed
    within the last two seconds is not taken for verified."""
    folder = home / case.name
    if (folder / "ontoweir.toml").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    columns, catalog, register = _make_columns(case)
    table = pa.table(columns)
    if case.shape == "unordered":
        table = table.take(np.random.default_rng(5).permutation(case.rows))
    _WRITERS[case.form](table, folder / f"readings.{case.form}")
    if register is not None:
        pq.write_table(register, folder / "register.parquet")
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)
    for name, text in MAPPED.items():
        (folder / f"{name}.rq").write_text(f"PREFIX : <http://example.org/>\n{text}\n")
    (folder / "mapping.ttl").write_text(_MAPPING)
    (folder / "ontoweir.toml").write_text(_write_project(case, catalog, register))
    time.sleep(SETTLED_S)
    return folder


def _make_columns(case: Case) -> tuple[dict[str, pa.Array], dict[str, str], pa.Table | None]:
    """The columns, how they are declared, and the register of devices, if there is one."""
    random, rows = np.random.default_rng(16), case.rows
    seconds = np.arange(rows) // PER_SECOND
    times = pa.array((1_400_000_000 + seconds) * 1_000_000, pa.timestamp("us"))
    place = np.arange(rows) % PER_SECOND
    register = None
    device = pa.array(place * 3 + random.integers(0, 3, rows))
    catalog = {"device": f'{{ type = "int", min = 0, max = {DEVICES - 1} }}'}
    if case.shape == "text":
        names = [f"dev-{n:04d}" for n in range(DEVICES)]
        device = pa.array(names).take(device)
        listed = ", ".join(f'"{n}"' for n in names)
        catalog = {"device": f'{{ type = "string", enum = [{listed}] }}'}
    elif case.shape == "uuid":
        known = rows // 5
        names = pa.array(_make_uuids(random, known))
        device = names.take(pa.array(random.integers(0, known // 100, rows) * 100 + place))
        register = pa.table({"device": names, "site": random.integers(0, 100, known)})
        catalog = {"device": '"string"'}
    value: pa.Array = pa.array(random.integers(0, 10_000, rows))
    kind = '{ type = "int", min = 0, max = 9999 }'
    if case.shape == "decimal":
        value, kind = (
            pa.array(value.to_numpy() / 100).cast(pa.decimal128(10, 2)),
            '"decimal(10, 2)"',
        )
    elif case.shape == "double":
        value, kind = pa.array(random.random(rows) * 100), '"double"'
    level = pa.array(random.integers(0, 101, rows))
    if case.shape == "nulls":
        value, level, device = (
            pa.array(c.to_numpy(), mask=random.random(rows) < 0.3) for c in (value, level, device)
        )
    columns = {"ts": times, "device": device, "level": level, "value": value}
    catalog |= {"level": '{ type = "int", min = 0, max = 100 }', "value": kind}
    if case.shape == "wide":
        for n in range(BESIDE):
            columns[f"beside_{n}"] = pa.array(random.integers(0, 1000, rows))
            catalog[f"beside_{n}"] = '"int"'
    return columns, catalog, register


def _make_uuids(random: np.random.Generator, count: int) -> list[str]:
    text = random.integers(0, 256, (count, 16), dtype=np.uint8).tobytes().hex()
    parts = [text[32 * i : 32 * i + 32] for i in range(count)]
    return [f"{p[:8]}-{p[8:12]}-{p[12:16]}-{p[16:20]}-{p[20:]}" for p in parts]


def _write_project(case: Case, catalog: dict[str, str], register: pa.Table | None) -> str:
    form = "json" if case.form == "jsonl" else case.form
    more = ', options = { header = "true" }' if case.form == "csv" else ""
    more += ", sort = true, keep = true" if case.shape == "unordered" else ""
    lines = ["[project]", 'mappings = ["mapping.ttl"]', 'queries = ["*.rq"]', "[streams.readings]"]
    lines.append(f'source = {{ format = "{form}", path = "readings.{case.form}"{more} }}')
    lines.append('timestamp = { column = "ts", unit = "1 second" }')
    lines.append('keys = [["device", "ts"]]')
    if register is not None:
        lines.append(
            'references = [{ columns = ["device"], relation = "register", to = ["device"] }]'
        )
    lines += ["[streams.readings.columns]", *(f"{n} = {k}" for n, k in catalog.items())]
    if register is not None:
        lines += [
            "[relations.register]",
            'source = { format = "parquet", path = "register.parquet" }',
        ]
        lines += ['keys = [["device"]]', f"max_rows = {register.num_rows}"]
        lines += ["[relations.register.columns]", 'device = "string"', 'site = "int"']
    return "\n".join(lines) + "\n"


def _write_csv(table: pa.Table, file: Path) -> None:
    times = table.column("ts").cast(pa.timestamp("s"))
    table = table.set_column(0, "ts", times)
    pcsv.write_csv(table, file, pcsv.WriteOptions(quoting_style="none"))


def _write_lines(table: pa.Table, file: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("t", table)
        connection.execute(f"COPY (FROM t) TO '{file}' (FORMAT json)").fetchall()


def _write_parquet(table: pa.Table, file: Path) -> None:
    pq.write_table(table, file)


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "jsonl": _write_lines,
}
