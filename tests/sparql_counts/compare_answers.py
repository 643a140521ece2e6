"""Compare what the pipeline answers with what rdflib answers, timestamp by timestamp."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from rdflib.plugins.sparql.sparql import Query as RdflibQuery

from ontoweir.errors import QueryError, RunError
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from ontoweir.runtime.engine.query_job import QueryJob
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query
from tests.sparql_counts.case import Case, Query, Row
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.replay_case import prepare_job, replay_case
from tests.sparql_counts.write_case import BASE, show_case, write_case, write_query, write_rows

Rows: TypeAlias = Mapping[str, tuple[Row, ...]]


@dataclass(frozen=True, slots=True)
class Equal:
    """The answers are rdflib's; at the end, these."""

    answers: Answers


@dataclass(frozen=True, slots=True)
class Refused:
    """The pipeline does not take the query."""

    reason: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Answers that are not rdflib's, over all that was known at a timestamp."""

    case: Case
    moment: datetime
    found: Answers
    wanted: Answers

    def __str__(self) -> str:
        return (
            f"at {self.moment} the answers are not those of SPARQL\n"
            f"too many: {_show(self.found - self.wanted)}\n"
            f"missing:  {_show(self.wanted - self.found)}\n{show_case(self.case)}"
        )


Outcome: TypeAlias = Equal | Refused | Difference


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query that the pipeline takes: what runs it, and what rdflib runs."""

    query: Query
    compiled: CompiledQuery
    job: QueryJob
    translated: RdflibQuery

    @property
    def names(self) -> list[str]:
        """The columns of the answers."""
        return [name.split()[-1].strip("?)") for name in self.query.head]


def compare_case(case: Case, folder: Path, *, computed: bool = False) -> Outcome:
    """Write a case into a folder and compare its answers; `computed` as `compare_queries`."""
    ((outcome,),) = compare_queries(case, [case.query], [case.rows], folder, computed=computed)
    return outcome


def compare_queries(
    case: Case,
    queries: Sequence[Query],
    contents: Sequence[Rows],
    folder: Path,
    *,
    computed: bool = False,
) -> list[list[Outcome]]:
    """Compare the answers of several queries over several contents of a case's tables.

    Args:
        case: the project; its own query and rows are not used.
        queries: what is asked.
        contents: of the tables.
        folder: where the project is written; it need not exist.
        computed: the mappings' SQL computes: DuckDB runs it.

    Returns:
        For each query, the outcome over each of the contents.
    """
    folder.mkdir(exist_ok=True)
    write_case(case, folder)
    workspace = Workspace(load_project(folder, environ={}))
    project = Project(folder, computed=computed)
    prepared = [_prepare(workspace, query, folder) for query in queries]
    outcomes: list[list[Outcome]] = [[] for _ in queries]
    for rows in contents:
        for table in case.tables:
            write_rows(table, rows[table.name], folder)
        for chosen in dict.fromkeys(query.graphs for query in queries):
            graphs = project.read_graphs(tuple(BASE + g for g in chosen))
            for query, asked, told in zip(queries, prepared, outcomes, strict=True):
                if query.graphs != chosen:
                    continue
                if isinstance(asked, Refused):
                    told.append(asked)
                    continue
                try:
                    found = replay_case(workspace, asked.compiled, asked.job, asked.names)
                except (QueryError, RunError) as error:
                    if isinstance(error, RunError) and "does not fit 64 bits" not in error.what:
                        raise
                    told.append(Refused(error.what))
                    continue
                wanted = ask_rdflib(asked.translated, graphs)
                told.append(_compare(replace(case, query=query, rows=dict(rows)), found, wanted))
    return outcomes


def _prepare(workspace: Workspace, query: Query, folder: Path) -> _Asked | Refused:
    text = write_query(query)
    (folder / "q.rq").write_text(text, encoding="utf-8")
    try:
        compiled = workspace.compile("q")
        job = prepare_job(workspace, compiled)
    except QueryError as error:
        return Refused(error.what)
    return _Asked(query, compiled, job, translate_query(text))


def _compare(
    case: Case, found: Mapping[datetime, Answers], wanted: Iterator[tuple[datetime, Answers]]
) -> Outcome:
    last: Answers = Counter()
    for moment, last in wanted:
        if is_grouped(case) and not case.query.group:
            last = drop_empty_group(last)
        known = gather_answers(found, moment, case)
        if known != last:
            return Difference(case, moment, known, last)
    return Equal(last)


def gather_answers(found: Mapping[datetime, Answers], moment: datetime, case: Case) -> Answers:
    """What was answered until a moment: all rows; of groups, the last row of each."""
    until = [found[at] for at in sorted(found) if at <= moment]
    if not is_grouped(case):
        return sum(until, Counter())
    keys = [i for i, name in enumerate(case.query.head) if name.startswith("?")]
    last = {tuple(row[i] for i in keys): row for rows in until for row in rows}
    return Counter(last.values())


def is_grouped(case: Case) -> bool:
    """Whether the query of a case has aggregates."""
    return any(name.startswith("(") for name in case.query.head)


def drop_empty_group(wanted: Answers) -> Answers:
    """Without the row that SPARQL has for no match at all: a group without a match has no row
    (docs/semantics.md). The last cell is the number of matches."""
    return Counter({row[:-1]: n for row, n in wanted.items() if row[-1] != "0"})


def _show(answers: Answers) -> str:
    return ", ".join(f"{count} × {row}" for row, count in sorted(answers.items())) or "none"
