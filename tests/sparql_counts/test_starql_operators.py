"""Operators that a text of STARQL defines: what they stand for, with names of their own."""

import random
import re
from pathlib import Path

import pytest

import ontoweir
from ontoweir.errors import QueryError
from tests.sparql_counts.test_starql import CASES, check_text, draw_rows, write_project, write_text

RISES = """CREATE AGGREGATE OPERATOR MONOTONIC.HAVING ($s, $p, seq) AS
  HAVING FORALL i, j IN seq ?x, ?y (
    IF (GRAPH i { $s $p ?x } AND GRAPH j { $s $p ?y } AND i < j) THEN ?x <= ?y )
CREATE AGGREGATE OPERATOR over(seq, $s, least) AS
  EXISTS i IN seq ?x ( GRAPH i { $s :val ?x } AND ?x > least AND MONOTONIC.HAVING($s, :val, seq) )
"""


ALWAYS = (
    "FORALL i, j IN SEQ1 ?x, ?y ( IF (GRAPH i { ?k :val ?x } AND GRAPH j { ?k :val ?y } AND i < j) "
    "THEN ?x <= ?y )"
)
SOME = "EXISTS i IN SEQ1 ?x ( GRAPH i { ?k :val ?x } AND ?x < 3 )"


@pytest.mark.filterwarnings("ignore::ontoweir.errors.OntoweirWarning")
@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("MONOTONIC.HAVING(?k, :val, SEQ1)", ALWAYS),
        (
            f"{SOME} AND MONOTONIC.HAVING(?k, :val, SEQ1)",
            f"{SOME.replace('?x', '?z')} AND {ALWAYS}",
        ),
    ],
)
def test_an_operator_is_what_it_stands_for(short: str, long: str, tmp_path: Path) -> None:
    draw = random.Random(5)
    write_project(tmp_path / "p", draw_rows(draw), [])
    project = ontoweir.open_project(tmp_path / "p")
    plain = CASES["rising"]
    told = []
    for having, before in ((short, RISES), (long, "")):
        text = write_text(plain._replace(having=having), 3, 1, 1, 0)
        text = text.replace("CREATE STREAM", f"{before}CREATE STREAM")
        rows = project.replay(text).to_arrow().to_pylist()
        told.append((rows, project.check(text).bound))
    assert told[0] == told[1]
    assert told[0][0]


@pytest.mark.parametrize(
    ("before", "having", "said"),
    [
        (RISES, "MONOTONIC.HAVING(?k, :val)", "MONOTONIC.HAVING of 2 arguments; it has 3"),
        ("CREATE AGGREGATE OPERATOR up AS x\n", "up()", "CREATE AGGREGATE OPERATOR up"),
        (RISES, "MONOTONIC.OTHER(?k)", "MONOTONIC"),
    ],
)
def test_an_operator_is_asked_for_as_it_is_defined(
    before: str, having: str, said: str, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", [(0, 1, 1)], [])
    text = write_text(CASES["rising"]._replace(having=having), 2, 1, 1, 0)
    with pytest.raises(QueryError, match=re.escape(said)):
        check_text(tmp_path / "p", text.replace("CREATE STREAM", f"{before}CREATE STREAM"))
