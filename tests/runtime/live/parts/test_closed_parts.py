"""Groups of values that a rule closes, live, in a state that is divided by key."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.closing_cases import MARKERS, make_closing_case
from tests.oracle.random_queries import Case
from tests.runtime.live.parts.test_parts_equal import compare_divided
from tests.runtime.live_cases import make_job, make_query
from tests.runtime.parts_here import divide


@budget(0.15)
@given(seed=SEEDS)
def test_parts_close_values_as_the_driver_does(seed: int) -> None:
    random = Random(seed)
    made = make_closing_case(random)
    union = parse_sql(made.sql, made.catalog, name="q", file="q.sql")
    case = Case(made.catalog, union, made.data, MARKERS)
    verdict = check_query(union, made.catalog, disprove=False)
    job = make_job(case, verdict)
    with TemporaryDirectory() as place:
        folder = Path(place) / "parts"
        divided = divide(job, make_query(case, verdict), random.choice([2, 3]), folder)
        apart = made.rule.rows is None and not made.rule.is_order  # else other rows close values
        assert (divided is not None) is apart
        if divided is not None:
            compare_divided(random, case, job, divided, folder)
