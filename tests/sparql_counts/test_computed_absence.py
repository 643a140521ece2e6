"""Expressions, aggregates and FILTERs over solutions beside which patterns match, or do not; in
GRAPH, in UNION, in each other: the answers are rdflib's, of the same text, at every time."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query
from tests.sparql_counts.case import Case, Map, Query, Row, Table
from tests.sparql_counts.read_graphs import Graphs, Project
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_rows

START = datetime(2020, 1, 1)
SMALL = (("id", 1, 3), ("n", 0, 3), ("m", 0, 3), ("p", 0, 3), ("f", 0, 3))
PREFIXES = (
    f"PREFIX : <{BASE}>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
    "PREFIX ow: <urn:ontoweir:>\n"
)
BUCKET = 'GROUP BY (ow:tumble(?t, "PT10M"^^xsd:dayTimeDuration) AS ?h)'
LONGEST = timedelta(minutes=10)
"""Until a bucket is over, and nothing beside its rows may still come."""


def make_case(random: Random) -> Case:
    """Two streams and a relation whose rows are subjects, and lack some properties."""
    maps, tables = [], []
    for name, columns in (("s", "nm"), ("u", "p"), ("r", "f")):
        stream = name != "r"
        keys = ((("id",),) if stream and random.random() < 0.6 else ()) or (
            (("id",),) if name == "r" else ()
        )
        ranges = tuple(r for r in SMALL if r[0] in ("id", *columns))
        kinds = tuple((c, "int") for c in ("id", *columns))
        tables.append(Table(name, kinds, stream=stream, keys=keys, ranges=ranges, most=4))
        objects = tuple((c, f'rr:column "{c}"') for c in columns)
        maps.append(Map(name, 'rr:template "http://e/{id}"', (), objects))
    rows = {t.name: _make_rows(random, t) for t in tables}
    return Case(tuple(tables), tuple(maps), Query(("?x",), ()), rows)


def _make_rows(random: Random, table: Table) -> tuple[Row, ...]:
    def cells() -> list[int | None]:
        return [None if random.random() < 0.25 else random.randint(0, 3) for _ in table.columns[1:]]

    if not table.stream:
        return tuple((i, *cells()) for i in range(1, 4) if random.random() < 0.6)
    made: list[Row] = []
    for step in range(5):
        ids = [1, 2, 3] if table.keys else [1, 2, 2, 3]
        for name in random.sample(ids, k=random.randint(0, 2)):
            made.append((step, name, *cells()))
    return tuple(made)


@dataclass
class Clause:
    """A clause; the variables that it alone binds, and when an answer beside it is final (with @
    for a time), and under DISTINCT if that is otherwise."""

    text: str
    binds: tuple[str, ...] = ()
    final: str = ""
    final_set: str | None = None

    def final_of(self, *, distinct: bool) -> str:
        """When an answer is final."""
        return self.final if self.final_set is None or not distinct else self.final_set


def make_clause(random: Random, number: int, time: str, *, inside: bool) -> Clause:
    """A clause of what is beside a row of a time; `inside`: of the GRAPH of the time."""
    p, u = f"p{number}", f"u{number}"
    kind = random.choice(["OPTIONAL"] * 3 + ["FILTER NOT EXISTS"] * 2 + ["FILTER EXISTS", "MINUS"])
    value = f"?{p}" if kind == "OPTIONAL" or random.random() < 0.5 else str(random.randint(0, 3))
    if inside:
        body = f"?x :{random.choice('pm')} {value}"
    elif random.random() < 0.4:
        body = f"?x :f {value}"
    elif kind == "MINUS" or random.random() < 0.3:
        body = f"GRAPH ?{time} {{ ?x :p {value} }}"
    else:
        minutes = random.choice([0, 5, 10])
        after = f'?{time} + "PT{minutes}M"^^xsd:dayTimeDuration'
        low = f"?{u} {random.choice(['>', '>='])} ?{time} && " if random.random() < 0.6 else ""
        if low and minutes == 0:
            low = low.replace("> ", ">= ")
        body = f"GRAPH ?{u} {{ ?x :p {value} }} FILTER({low}?{u} <= {after})"
        final = f'{after} <= "@"^^xsd:dateTime'
        if kind == "OPTIONAL":
            return Clause(f"OPTIONAL {{ {body} }}", (p,), f"BOUND(?{p}) || {final}")
        if kind == "FILTER EXISTS":
            final = ""
        return Clause(f"{kind} {{ {body} }}", (), final)
    if kind == "OPTIONAL" and random.random() < 0.3:
        more = f"?x :{'p' if inside else 'f'} ?q{number}"
        return Clause(f"OPTIONAL {{ {body} OPTIONAL {{ {more} }} }}", (p, f"q{number}"))
    if kind == "OPTIONAL" and random.random() < 0.3:
        body += f" FILTER(?{p} > {random.randint(0, 2)})"
    if kind.startswith("FILTER") and random.random() < 0.3:
        word = kind.removeprefix("FILTER ")
        negated = "!EXISTS" if word == "NOT EXISTS" and random.random() < 0.5 else word
        return Clause(f"FILTER(?n < 3 && {negated} {{ {body} }})")
    return Clause(f"{kind} {{ {body} }}", (p,) if kind == "OPTIONAL" else ())


def make_text(
    random: Random,
    make: Callable[..., Clause] = make_clause,
    start: str = "?x :n ?n .",
    head: str | None = None,
) -> tuple[str, str]:
    """A query, and the same of what is final at a time, @; with clauses that `make` makes, and
    with some `head`."""
    clauses = [
        make(random, n, "t", inside=random.random() < 0.4) for n in range(random.choice([1, 1, 2]))
    ]
    binds = [v for c in clauses for v in c.binds]
    body = start
    outer = ""
    for clause in clauses:
        inside = "GRAPH" not in clause.text and ":f" not in clause.text
        body, outer = (
            (f"{body} {clause.text}", outer) if inside else (body, f"{outer}\n  {clause.text}")
        )
    pattern = f"GRAPH ?t {{ {body} }}{outer}"
    united = random.random() < 0.25
    if united:
        more = random.choice(["GRAPH ?w { ?x :m ?n }", "GRAPH ?w { ?x :n ?n MINUS { ?x :m 1 } }"])
        pattern = f"{{ {pattern} @F }} UNION {{ {more} }}"
    else:
        pattern += " @F"
    late = []
    if binds and random.random() < 0.4:
        v = random.choice(binds)
        late = [
            random.choice(
                [
                    f"FILTER(!BOUND(?{v}) || ?{v} > ?n)",
                    f"FILTER(COALESCE(?{v}, 1) < 2)",
                    f"FILTER(BOUND(?{v}))",
                    f"FILTER(?{v} >= ?n)",
                    f"BIND(COALESCE(?{v}, 7) + ?n AS ?b)",
                ]
            )
        ]
    elif random.random() < 0.3:
        late = [random.choice(["BIND(?n * 2 AS ?b)", "FILTER(ABS(?n - 2) < 2)", "FILTER(?n > 0)"])]
    if any("AS ?b" in line for line in late):
        binds.append("b")
    made, group = _make_head(random, binds, buckets=not united)
    head, group = (made, group) if head is None else (head, "")
    lines = "\n  ".join((pattern, *late))
    text = f"{PREFIXES}SELECT {head}\nWHERE {{\n  {lines}\n}}\n{group}"
    finals = [c.final_of(distinct=head.startswith("DISTINCT")) for c in clauses]
    told = "".join(f" FILTER({final})" for final in finals if final)
    return text.replace("@F", ""), text.replace("@F", told)


def _make_head(random: Random, binds: list[str], *, buckets: bool) -> tuple[str, str]:
    values = ["?n", "?n", *(f"?{v}" for v in binds)]
    kind = random.randrange(7)
    if kind == 0:
        return random.choice(["?x ", "?t ?x ", ""]) + " ".join(dict.fromkeys(values)), ""
    if kind == 1:
        return f"DISTINCT {' '.join(dict.fromkeys(['?x', random.choice(values)]))}", ""
    if kind in (2, 3):
        v = random.choice(values)
        made = random.choice([f"{v} + ?n", f"COALESCE({v}, -1)", f"IF(BOUND({v}), 1, 0)"])
        return f"({made} AS ?e) ?x", ""  # ending so, as translate_query adds a column else
    v = random.choice(values)
    calls = ["COUNT(*)", f"COUNT({v})", f"COUNT(DISTINCT {v})", "SUM(?n)", "MAX(?n)", "MIN(?n)"]
    if random.random() < 0.2 and buckets:
        return f"?h (COUNT(*) AS ?c0) (COUNT({v}) AS ?c1) (SUM(?n) AS ?c2)", BUCKET
    calls += [f"SUM(COALESCE({v}, 0))", f"MAX(COALESCE({v}, 0))"]
    by = random.choice(["?x", "?x", random.choice(values)])
    shown = random.sample(calls, k=random.choice([1, 1, 2]))
    aggregates = " ".join(f"({call} AS ?c{n})" for n, call in enumerate(shown))
    having = " HAVING(COUNT(*) > 1)" if random.random() < 0.2 else ""
    return f"{by} {aggregates}", f"GROUP BY {by}{having}\n"


def run_seed(
    seed: int, folder: Path, make: Callable[[Random], tuple[str, str]] = make_text
) -> Counter[str]:
    """Compare the query of a seed, over three contents of its tables."""
    random = Random(seed)
    case = make_case(random)
    text, final = make(random)
    folder.mkdir(exist_ok=True)
    write_case(case, folder)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
        job = prepare_job(workspace, compiled)
    except QueryError as error:
        return Counter({f"refused: {error.what[:70]}": 1})
    if job.unbounded:
        return Counter(undecided=1)
    grouped = "GROUP BY" in text.rpartition("}")[2]
    names = list(compiled.union.variables)
    if compiled.union.aggregation is not None:
        names = list(compiled.union.aggregation.columns)
    project, told = Project(folder), Counter[str]()
    for number in range(3):
        rows = {t.name: _make_rows(Random(f"{seed} {number}"), t) for t in case.tables}
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        graphs = project.read_graphs()
        found = replay_case(workspace, compiled, job, names)
        shown = replace(case, rows=dict(rows), note=f"{seed}\n{text}")
        if BUCKET in text:
            told[_compare_buckets(final, sum(found.values(), Counter()), graphs, shown)] += 1
            continue
        known: Answers = Counter()
        groups: dict[str, tuple[str, ...]] = {}
        steps = [int(row[0] or 0) for t in case.tables if t.stream for row in rows[t.name]]
        query = translate_query(final.replace('"@"^^xsd:dateTime', "NOW()"))
        for moment, wanted in ask_rdflib(query, graphs):
            if moment > START + timedelta(minutes=5 * max(steps, default=-1)):
                break
            for at in sorted(found):
                if at > moment:
                    break
                answers = found.pop(at)
                known += answers
                groups |= {row[0]: row for row in answers}
            if grouped:
                known = Counter(groups.values())
            wanted = Counter({row: n for row, n in wanted.items() if any(c != "None" for c in row)})
            if names[0] == "t":
                wanted = Counter({(_time(row[0]), *row[1:]): n for row, n in wanted.items()})
            assert known == wanted, (
                f"at {moment}\ntoo many: {known - wanted}\nmissing: {wanted - known}\n"
                + show_case(shown)
            )
        told["with answers" if known else "without"] += 1
    return told


def _time(seconds: str) -> str:
    if seconds == "None":
        return seconds  # of a branch of UNION without it
    return datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None).isoformat()


def _compare_buckets(final: str, found: Answers, graphs: Graphs, shown: Case) -> str:
    """The sums of buckets that are over are those of their times, and none is missing."""
    last = max(graphs.at, default=START)
    text = final.replace("@", "2030-01-01T00:00:00")
    text = text.replace(BUCKET, "GROUP BY ?t").replace("SELECT ?h", "SELECT ?t")
    wanted: dict[datetime, list[int]] = {}
    for row in dict(ask_rdflib(translate_query(text), graphs)).get(last, ()):
        if row[0] != "None":
            time = datetime.fromisoformat(_time(row[0]))
            sums = wanted.setdefault(START + (time - START) // LONGEST * LONGEST, [0, 0, 0])
            sums[:] = [a + int(b) for a, b in zip(sums, row[1:], strict=True)]
    rows = {datetime.fromisoformat(row[0]): [int(c) for c in row[1:]] for row in found}
    assert len(rows) == sum(found.values())
    over = {h for h in wanted if h + 2 * LONGEST <= last}
    assert rows.items() <= wanted.items(), f"{rows} {wanted}\n{show_case(shown)}"
    assert over <= rows.keys(), f"{rows} {wanted}\n{show_case(shown)}"
    return "with buckets" if rows else "without"


def test_some_have_answers(tmp_path: Path) -> None:
    """What random cases say is not said of nothing."""
    told = Counter[str]()
    for seed in range(10):
        told += run_seed(seed, tmp_path / str(seed))
    assert told["with answers"] > 10


@budget(0.3)
@given(seed=SEEDS)
def test_what_is_computed_beside_absence_is_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        for kind in run_seed(seed, Path(folder, "case")):
            event(kind)
