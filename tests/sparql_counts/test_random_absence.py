"""Random queries with NOT EXISTS, EXISTS, MINUS and OPTIONAL over random mappings, hierarchies and
data: what was answered until every time is what rdflib finds in the graphs of the times until then,
of which an answer without something counts from its deadline on."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import settings

from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.add_views import tables_of
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query
from tests.sparql_counts.case import Branch, Case, Query
from tests.sparql_counts.random_cases import random_case, random_query
from tests.sparql_counts.random_tables import random_rows
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

PROJECTS = settings().max_examples // 5
CONTENTS = 3
START = datetime(2020, 1, 1)


def _is_plain(query: Query) -> bool:
    return (
        len(query.branches) == 1
        and not query.group
        and not any(name.startswith("(") for name in query.head)
        and all(a.time for a in query.branches[0].atoms)
        and not query.branches[0].lines
    )


def _draw(draw: random.Random, case: Case) -> Query | None:
    for _ in range(30):
        query = random_query(draw.randrange(1 << 30), case)
        if _is_plain(query):
            return query
    return None


def _write(branch: Branch, rename: dict[str, str]) -> str:
    """The patterns of a branch with other times."""
    text = write_query(Query(("*",), (branch,)))
    inside = text[text.index("{") + 1 : text.rindex("}")]
    for old, new in rename.items():
        inside = inside.replace(f"GRAPH ?{old} ", f"GRAPH ?{new} ")
    return " ".join(inside.split())


def _write_earlier(
    draw: random.Random, case: Case, time: str, prefix: str = "e", nested: float = 0.0
) -> str:
    """A condition on earlier patterns, which is final at once: of other variables than others; now
    and then with another one inside, as often as `nested` says."""
    other = _draw(draw, case)
    if other is None:
        return ""
    times = sorted({a.time for a in other.branches[0].atoms})
    names = {t: f"{prefix}{n}" for n, t in enumerate(times)}
    body = _write(other.branches[0], names)
    body += "".join(f" FILTER(?{e} <= ?{time})" for e in names.values())
    if nested:
        since = f'?{time} - "PT10M"^^xsd:dayTimeDuration'
        body += "".join(f" FILTER(?{e} >= {since})" for e in names.values())
        if draw.random() < nested:
            body += " " + _write_earlier(draw, case, time, f"{prefix}i", nested / 3)
    return f"FILTER {draw.choice(['NOT EXISTS', 'EXISTS'])} {{ {body} }}"


def make_query(draw: random.Random, case: Case) -> tuple[Query, str] | None:
    """A query, and the condition under which an answer of it is final, with @ for a time."""
    base, other = _draw(draw, case), _draw(draw, case)
    if base is None or other is None:
        return None
    times = sorted({a.time for a in base.branches[0].atoms})
    if len(times) != 1:
        return None
    (time,) = times
    first = "" if draw.random() < 0.6 else _write_earlier(draw, case, time)
    kinds = ["NOT EXISTS", "NOT EXISTS", "EXISTS", "MINUS", "OPTIONAL", "OPTIONAL", "UNBOUND"]
    kind = draw.choice(kinds)
    inner = {a.time for a in other.branches[0].atoms}
    if kind == "MINUS":
        body = _write(other.branches[0], dict.fromkeys(inner, time))
        line, final = f"MINUS {{ {body} }}", ""
    else:
        names = {t: f"u{n}" for n, t in enumerate(sorted(inner))}
        body = _write(other.branches[0], names)
        minutes = draw.choice([0, 0, 5, 10, 20])
        after = f'?{time} + "PT{minutes}M"^^xsd:dayTimeDuration'
        body += "".join(f" FILTER(?{u} <= {after})" for u in names.values())
        if draw.random() < 0.5:
            body += "".join(f" FILTER(?{u} >= ?{time})" for u in names.values())
        final = f'{after} <= "@"^^xsd:dateTime'
        line = f"FILTER {kind} {{ {body} }}" if "EXISTS" in kind else f"OPTIONAL {{ {body} }}"
        if kind == "EXISTS":
            final = ""
    head = base.head
    if kind in ("OPTIONAL", "UNBOUND"):
        own = {a.subject for a in base.branches[0].atoms} | {
            a.object for a in base.branches[0].atoms
        }
        new = [
            term
            for a in other.branches[0].atoms
            for term in (a.subject, a.object)
            if term.startswith("?") and term not in own
        ]
        if not new:
            return None
        head = tuple(h for h in head if h in own)
        if kind == "UNBOUND":
            line += f" FILTER(!BOUND({new[0]}))"
            if not head:
                return None
            lines = (first, line) if first else (line,)
            return replace(
                base, branches=(replace(base.branches[0], lines=lines),), head=head
            ), final
        head = (*head, new[0])
        final = f"BOUND({new[0]}) || {final}"
    lines = (first, line) if first else (line,)
    branch = replace(base.branches[0], lines=lines)
    return replace(base, branches=(branch,), head=head), final


def make_nested(draw: random.Random, case: Case) -> tuple[Query, str] | None:
    """A query of which nothing comes later, with conditions inside of each other."""
    base = _draw(draw, case)
    times = () if base is None else sorted({a.time for a in base.branches[0].atoms})
    if base is None or len(times) != 1:
        return None
    line = _write_earlier(draw, case, times[0], nested=0.9)
    branch = replace(base.branches[0], lines=(line,) if line else ())
    return replace(base, branches=(branch,)), ""


def compare(
    seed: int,
    folder: Path,
    make: Callable[..., tuple[Query, str] | None] = make_query,
    draw_case: Callable[[int], Case] = random_case,
) -> Counter[str]:
    """Compare a query over several contents of a case's tables; how often which outcome."""
    told: Counter[str] = Counter()
    case = draw_case(seed)
    made = make(random.Random(seed), case)
    if made is None:
        return Counter(none=1)
    query, final = made
    folder.mkdir(exist_ok=True)
    write_case(case, folder)
    text = write_query(query)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    workspace = Workspace(load_project(folder, environ={}))
    try:
        compiled = workspace.compile("q")
        job = prepare_job(workspace, compiled)
    except QueryError as error:
        return Counter({f"refused: {error.what[:60]}": 1})
    if job.unbounded:
        return Counter(undecided=1)
    last = len(query.branches[0].lines) - 1
    parts = [p for b in compiled.union.blocks if b.absence for p in b.absence.parts[last:]]
    if not any(part.deadlines for part in parts):
        final = ""  # what is never there is absent at once
    project = Project(folder)
    names = [name.strip("?") for name in query.head]
    for number in range(CONTENTS):
        rows = random_rows(CONTENTS * seed + number, case)
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        graphs = project.read_graphs(tuple(BASE + g for g in query.graphs))
        found = replay_case(workspace, compiled, job, names)
        known: Answers = Counter()
        read = tables_of(compiled.union)
        streams = [t.name for t in case.tables if t.stream and t.name in read]
        steps = [int(row[0] or 0) for name in streams for row in rows[name]]
        asked = text
        if final:
            limit = final.replace('"@"^^xsd:dateTime', "NOW()")
            asked = text[: text.rindex("}")] + f"FILTER({limit})\n}}"
        for moment, wanted in ask_rdflib(translate_query(asked), graphs):
            if moment > START + timedelta(minutes=5 * max(steps, default=-1)):
                break  # a replay ends with the streams that it reads
            if moment < START + timedelta(minutes=5 * min(steps, default=0)):
                continue  # and begins with them
            for at in sorted(found):
                if at <= moment:
                    known += found.pop(at)
            assert known == wanted, (
                f"at {moment}\ntoo many: {known - wanted}\nmissing: {wanted - known}\n"
                + show_case(replace(case, query=query, rows=dict(rows)))
            )
        told["with answers" if known else "without"] += 1
    return told


def test_answers_are_rdflibs(tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    for seed in range(PROJECTS):
        told += compare(seed, tmp_path)
    assert told["with answers"], told


def test_nested_answers_are_rdflibs(tmp_path: Path) -> None:
    told: Counter[str] = Counter()
    for seed in range(PROJECTS):
        told += compare(1_000 + seed, tmp_path, make_nested)
    assert told["with answers"], told
