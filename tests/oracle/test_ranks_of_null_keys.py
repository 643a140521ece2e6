"""The first rows of each key, where NULL is a key, and the first and the latest one where a key of
the stream has none: as DuckDB answers the same text at every time."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given

from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_free_shapes import NULLABLE, draw_data
from tests.oracle.test_free_shapes import compare as compare_told
from tests.oracle.test_latest import make_rows
from tests.oracle.test_sql_nulls import CATALOG
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_standing import compare

RANKS = [
    "RANK() OVER (PARTITION BY g ORDER BY ts)",
    "DENSE_RANK() OVER (PARTITION BY g, h ORDER BY ts)",
    "RANK() OVER (PARTITION BY g, time_bucket('4 microseconds', ts) ORDER BY ts)",
    "RANK() OVER (PARTITION BY time_bucket('4 microseconds', ts), h ORDER BY ts DESC)",
    "RANK() OVER (PARTITION BY NULLIF(h, 1) ORDER BY ts)",
    "RANK() OVER (PARTITION BY NULLIF(h, 1), g ORDER BY ts DESC)",
]


@pytest.mark.parametrize("rank", RANKS)
def test_null_is_a_key(rank: str) -> None:
    text = f"SELECT a AS c0, b AS c1, g AS c2 FROM s WHERE a > -3 QUALIFY {rank} = 1"
    told = set()
    for seed in range(2):
        random = Random(seed)
        catalog, data = draw_data(random)
        if catalog.streams["s"].columns != NULLABLE.streams["s"].columns:
            data = {**data, "s": (data["s"][0], [_lack(row, random) for row in data["s"][1]])}
        streams = {
            n: replace(s, columns=NULLABLE.streams[n].columns, keys=())
            for n, s in catalog.streams.items()
        }
        catalog = replace(catalog, streams=streams)
        told.add(compare_told(random, (text, ("c0", "c1", "c2")), (catalog, data)))
    assert any("answers: True" in one for one in told), told


def _lack(row: tuple[object, ...], random: Random) -> tuple[object, ...]:
    """A row, of which some columns are NULL, but for its time."""
    return (*(None if random.random() < 0.3 else v for v in row[:-1]), row[-1])


KEYED = replace(
    CATALOG, streams={**CATALOG.streams, "s": replace(CATALOG.streams["s"], keys=(("h", "ts"),))}
)
_NUMBER = "ROW_NUMBER() OVER (PARTITION BY h ORDER BY ts DESC)"
CHOSEN = [
    f"SELECT g AS c0, a AS c1 FROM s WHERE {{w}} QUALIFY {_NUMBER} = 1",
    "SELECT DISTINCT ON (h) g AS c0, a AS c1 FROM s WHERE {w} ORDER BY h, ts DESC",
]


@pytest.mark.parametrize("text", CHOSEN)
@budget(0.2)
@given(seed=SEEDS)
def test_rows_whose_key_is_null_and_should_not_be_are_none_of_them(text: str, seed: int) -> None:
    """h, ts are a key; several rows of one time have no h."""
    random = Random(seed)
    ours, duck = text.format(w="a > -3"), text.format(w="a > -3 AND h IS NOT NULL")
    data = make_rows(random, ("h",))
    columns, rows = data["s"]
    place = columns.index("h")
    lost = [(*row[:place], None, *row[place + 1 :]) for row in rows if row[-1] % 3 == 1]
    told = sorted([*rows, *lost, *lost], key=lambda row: row[-1])
    union = parse_sql(ours, KEYED, name="q", file="q.sql")
    query = Stacked(ours, duck, ("c0", "c1"))
    compare(query, union, random, KEYED, {**data, "s": (columns, told)})


def test_nor_are_they_among_the_first_ones() -> None:
    """Of rows without h none is before another: without more, each of them would be the first."""
    text = "SELECT g, a FROM s WHERE {} QUALIFY ROW_NUMBER() OVER (PARTITION BY h ORDER BY ts) = 1"
    one, other = (
        parse_sql(text.format(where), KEYED, name="q", file="q.sql")
        for where in ("a > -3", "a > -3 AND h IS NOT NULL")
    )
    assert one == other
