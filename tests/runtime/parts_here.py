"""Live jobs whose rows are divided, with tasks that run in this process."""

import pickle
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TypeAlias

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.model.divided_state import PartName
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.live.parts.divide_queries import PartsWanted, divide_queries
from ontoweir.runtime.live.parts.part_task import list_histories
from ontoweir.runtime.live.parts.run_part import run_part
from tests.oracle.random_queries import Case, make_case
from tests.oracle.test_aggregates_against_oracle import make_aggregates
from tests.oracle.test_partitions import branch, tie
from tests.runtime.live_cases import make_job, make_query


def tied_case(random: Random, style: str | None = None) -> tuple[Case, LiveJob, QueryJob] | None:
    """A random case whose streams are joined by a column, where its query is bounded."""
    markers = random.choice([6, 12])
    made = (
        make_case(random, markers=markers)
        if style is None
        else make_case(random, style=style, markers=markers)
    )
    case = tie(random, made)
    union = make_aggregates(random, case) if random.random() < 0.4 else case.query
    if random.random() < 0.3:
        union = branch(random, union, case)
    if union.aggregation is not None:
        check_aggregates(union, case.catalog)
    case = replace(case, query=union)
    try:
        verdict = check_query(union, case.catalog, disprove=False)
    except QueryError:  # a timestamp has been tied to a number
        return None
    if not verdict.plans:
        return None
    return case, make_job(case, verdict), make_query(case, verdict)


def divide(job: LiveJob, query: QueryJob, parts: int, folder: Path) -> LiveJob | None:
    """The job with its rows divided (None: they cannot be)."""
    wanted = PartsWanted("spark", parts, 2, {}, 1 << 33, folder)
    divided = divide_queries(job, [query], wanted).job
    if not divided.placements:
        return None
    work = divided.queries[0].work
    work = replace(work, watched=(), histories=list_histories(work))
    packed = {"q": SimpleNamespace(value=pickle.dumps(work))}
    run = uuid.uuid4().hex

    def run_parts(given: Mapping[PartName, bytes]) -> Mapping[PartName, bytes]:
        return {part: run_part(run, packed, task) for part, task in given.items()}

    return replace(divided, run_parts=run_parts)


Divide: TypeAlias = Callable[[int, Path], LiveJob]
"""The job with its rows divided into so many parts, whose files are in the checkpoint of a run's
folder."""


def _divide_in(job: LiveJob, query: QueryJob, parts: int, folder: Path) -> LiveJob:
    made = divide(job, query, parts, folder / "check" / "parts")
    assert made is not None
    return made


def find_divided(seed: int) -> Iterator[tuple[Case, LiveJob, Divide]]:
    """Random cases whose rows can be divided, from a seed on: as they are, and divided."""
    while True:
        found = tied_case(Random(seed))
        if found is not None and divide(*found[1:], 2, Path("nowhere")) is not None:
            case, job, query = found
            yield case, job, partial(_divide_in, job, query)
        seed += 1
