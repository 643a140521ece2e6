"""Plans made again with what the static data says are those of a whole verdict that knows it."""

from dataclasses import replace
from random import Random

from hypothesis import given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.decide.refine_plans import refine_plans
from ontoweir.checker.model.normal_form import Statistics
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.statics.gather_statistics import gather_statistics
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import make_case
from tests.oracle.test_sql_nulls import CATALOG
from tests.runtime.in_process import arrow_table


@budget(1.0)
@given(seed=SEEDS)
def test_the_same_plans_and_bound(seed: int) -> None:
    case = make_case(Random(seed))
    catalog = case.catalog
    verdict = check_query(case.query, catalog, disprove=False)
    if verdict.plans is None:
        return
    known = gather_statistics({n: arrow_table(case, n) for n in catalog.relations})
    whole = check_query(case.query, catalog, statistics=known, disprove=False)
    refined = refine_plans(verdict, catalog, known)
    assert refined.plans is not None
    assert whole.plans is not None
    for mine, theirs in zip(refined.plans, whole.plans, strict=True):
        # bounds of differences are told apart by identity alone
        form = replace(mine.form, bounds=theirs.form.bounds)
        assert replace(mine, form=form) == theirs
    assert refined.bound == whole.bound
    assert refine_plans(verdict, catalog, Statistics()) is verdict


def test_of_what_is_joined_the_parts_count() -> None:
    windows = (
        f"(SELECT h, COUNT(*) AS n FROM {name} WHERE ts > NOW() - INTERVAL '{n}' MICROSECOND "
        "GROUP BY h)"
        for name, n in (("s", 3), ("t", 5))
    )
    text = "SELECT x.h, y.n FROM {} x JOIN {} y ON x.h = y.h".format(*windows)
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert union.joined is not None
    verdict = check_query(union, CATALOG)
    refined = refine_plans(verdict, CATALOG, Statistics({"r": 3}))
    assert verdict.bound is not None
    assert verdict.bound.rows
    assert refined.bound == verdict.bound
