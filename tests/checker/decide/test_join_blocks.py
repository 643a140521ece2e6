"""The verdict on a query over the answers of another is that of the whole."""

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier, Verdict, list_blocks
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql

NONE = DataSource("parquet", "none")
MINUTE = 60_000_000
COLUMNS = (
    Column("k", IntType(), minimum=1, maximum=10),
    Column("v", IntType()),
    Column("w", IntType()),
)
CATALOG = Catalog({n: Stream(n, NONE, "ts", MINUTE, 5, COLUMNS) for n in ("s", "t")})
HOURLY = "SELECT k, date_trunc('hour', ts) AS hour, AVG(v) AS mean FROM s GROUP BY k, hour"


def decide(sql: str) -> Verdict:
    return check_query(parse_sql(sql, CATALOG, name="q", file="q.sql"), CATALOG)


def rows(verdict: Verdict) -> int:
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    return verdict.bound.rows


def test_the_bound_is_the_sum() -> None:
    whole = decide(f"SELECT k, mean FROM ({HOURLY}) x WHERE mean > 3")
    (inner,) = whole.blocks
    alone = decide(HOURLY)
    assert rows(inner) == rows(alone)
    # and the answers of one time, which wait until it is over: ten values of k, and NULL
    assert rows(whole) == rows(alone) + 11
    assert whole.tier is alone.tier


def test_the_tier_is_the_worst() -> None:
    # hours beside the hour before: the answers of an hour are kept for an hour
    sql = f"WITH h AS ({HOURLY}) SELECT b.k, b.hour FROM h a, h b WHERE a.k = b.k AND "
    window = decide(sql + "b.hour = a.hour + INTERVAL '1' HOUR AND b.mean > a.mean")
    assert window.tier is Tier.WINDOW_BOUNDED
    assert window.plans
    # without the window a mean would be compared with all later ones: a maximum, by k
    ever = decide(sql + "b.hour > a.hour AND b.mean > a.mean AND b.mean < a.mean + 3")
    assert ever.plans is None
    assert ever.tier is Tier.UNDECIDED


def test_no_witness_is_made_of_answers() -> None:
    # over a stream, a witness is found; answers are not rows that one may choose
    own = decide("SELECT a.v FROM s a, t b WHERE a.v = b.v AND a.ts < b.ts")
    assert own.tier is Tier.UNBOUNDED
    sql = f"SELECT a.mean FROM ({HOURLY}) a, t b WHERE a.mean = b.v AND a.hour < b.ts"
    whole = decide(sql)
    assert whole.tier is Tier.UNDECIDED
    assert whole.witness is None


def test_what_reads_an_undecided_query_is_undecided() -> None:
    inner = (
        "SELECT date_trunc('hour', s.ts) AS hour, COUNT(*) AS n FROM s, t "
        "WHERE s.v = t.v AND s.ts < t.ts GROUP BY hour"
    )
    whole = decide(f"SELECT n FROM ({inner}) x")
    assert whole.tier is Tier.UNDECIDED
    assert whole.plans is None
    assert [v.plans for v in list_blocks(whole)] == [None]


def test_what_reads_nothing_selects_nothing() -> None:
    inner = HOURLY.replace("FROM s", "FROM s WHERE k = 3 AND k = 4")
    whole = decide(f"SELECT mean FROM ({inner}) x")
    assert whole.tier is Tier.UNSATISFIABLE
    assert whole.plans == ()


def test_what_it_rests_on_is_declared_or_follows() -> None:
    sql = f"SELECT DISTINCT a.k FROM ({HOURLY}) a, t b WHERE a.k = b.k AND a.hour < b.ts"
    whole = decide(sql)
    assert whole.tier is Tier.CONDITIONALLY_BOUNDED
    texts = [d.text for d in whole.conditions]
    assert "a.k in 1..10, which follows from its query" in texts or "t.k in 1..10" in texts
    assert {d.table for d in whole.declarations} <= {"s", "t"}


def test_a_disjunct_that_reads_nothing_does_not_count() -> None:
    """The other ones' bound is the whole bound, although it alone would have no plan."""
    never = "b.k = a.k AND b.ts > a.ts AND b.ts < a.ts"
    later = "c.k = b.k AND c.ts > b.ts AND c.ts < b.ts + INTERVAL '1' HOUR"
    joined = f"s a LEFT JOIN t b ON {never} LEFT JOIN t c ON {later}"
    assert rows(decide(f"SELECT DISTINCT b.v FROM {joined}")) == 1


def test_what_waits_counts_beside_fewer_keys_than_tuples() -> None:
    # 5 rows of x wait for a step, and 5 for what would be beside them; nothing is found longer
    step = decide(
        "SELECT x.k, x.v FROM s x WHERE NOT EXISTS (SELECT 1 FROM t y WHERE y.k = x.k "
        "AND y.ts > x.ts AND y.ts <= x.ts + INTERVAL '1' MINUTE)"
    )
    assert rows(step) == 10
    # of 3 steps what waits, and what was found, are 15 rows together
    three = decide(
        "SELECT x.k, x.v FROM s x WHERE NOT EXISTS (SELECT 1 FROM t y WHERE y.k = x.k "
        "AND y.ts > x.ts AND y.ts <= x.ts + INTERVAL '3' MINUTE)"
    )
    assert rows(three) == 30
