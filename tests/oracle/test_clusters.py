"""Rows of one value within a span: verdicts and answers of random queries against DuckDB."""

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Lag
from ontoweir.rewriter.algebra.list_lags import apply_lags
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import STYLES, Case, make_case
from tests.oracle.relational import answers
from tests.runtime.in_process import answers_upto, load_admitted
from tests.runtime.live_cases import cut_arrivals, make_job


def _cluster(case: Case, random: Random) -> Case:
    """The case with a rule for a column of each stream."""
    streams = {}
    for name, stream in case.catalog.streams.items():
        column = random.choice(stream.columns).name
        within = random.choice([0, 1, 2, 4]) * stream.step_us
        rule = Lag(name, (column,), (column,), within)
        streams[name] = replace(stream, lags=(*stream.lags, rule))
    return replace(case, catalog=replace(case.catalog, streams=streams))


@given(SEEDS)
@budget(0.6)
def test_answers_keep_the_rule_and_state_its_bound(seed: int) -> None:
    random = Random(seed)
    case = _cluster(make_case(random, style=random.choice(sorted(STYLES))), random)
    verdict = check_query(case.query, case.catalog, disprove=False)
    if not verdict.plans:
        return
    job = make_job(case, verdict)
    state, rows = begin_live(job), []
    for batch in cut_arrivals(case, random, {h.stream.name for h in job.histories}):
        outcome = advance_live(job, state, batch, 0.0)  # which holds it to its bound
        state = outcome.state
        rows += outcome.answers[0].to_pylist()
    done = -1 if state.finished_us is None else state.finished_us
    union: SpjUnion = apply_lags(case.query, case.catalog)
    stamps = {name: s.timestamp for name, s in case.catalog.streams.items()}
    query, distinct = union.disjuncts[0], union.distinct
    expected = answers(load_admitted(case), query, stamps, distinct=distinct, markers=done + 1)
    for marker, right in enumerate(expected):
        assert answers_upto(rows, case.query.variables, marker) == Counter(right)
