"""Terms that tell the value that rows are divided by, and terms that do not."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.partition.partition import ByKey, NotDivided
from ontoweir.rewriter.model.spj import (
    Attribute,
    IriOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
)
from tests.read_given import read_catalog

TOML = """
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
k = { type = "int", min = 0, max = 9 }
j = { type = "int", min = 0, max = 9 }
name = { type = "string", enum = ["1", "2"] }
"""
K, J, NAME = (Attribute("s", column) for column in ("k", "j", "name"))


def _branch(output: Output, *columns: Attribute) -> SpjQuery:
    conditions = tuple(NotNull(column) for column in columns)
    return SpjQuery((Occurrence("s", "s"),), conditions, (("x", output),))


@pytest.mark.parametrize(
    ("branches", "divided"),
    [
        ([_branch(IriOutput(("http://x/", K)), K)], True),
        # 1 and 12, or 11 and 2
        ([_branch(TemplateLiteralOutput((K, J)), K, J)], False),
        ([_branch(TemplateLiteralOutput((K, "-", J)), K, J)], True),
        # the same templates, of the same columns and of others
        ([_branch(IriOutput(("http://x/", c)), c, K) for c in (K, K)], True),
        ([_branch(IriOutput(("http://x/", c)), c) for c in (K, J)], False),
        # http://x/1 of a number and of a text
        ([_branch(IriOutput(("http://x/", c)), K, NAME) for c in (K, NAME)], False),
        ([_branch(IriOutput((iri, K)), K) for iri in ("http://x/", "http://x/1")], False),
        ([_branch(LiteralOutput(K), K), _branch(IriOutput(("http://x/", K)), K)], False),
    ],
)
def test_terms(branches: list[SpjQuery], *, divided: bool) -> None:
    union = SpjUnion("q", ("x",), tuple(branches), distinct=True)
    verdict = check_query(union, read_catalog(TOML), disprove=False)
    assert verdict.partition is not None
    assert isinstance(verdict.partition, ByKey if divided else NotDivided)
