"""What is read of a view without SQL's parser is what the parser reads."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.dialects.spark import Spark

from ontoweir.mappings.sql.read_simple_view import SimpleView, read_simple_view
from ontoweir.runtime.statics.parse_view import parse_view

VIEW = """
  SELECT street AS s, min(city) AS city, MAX(speed) as m
  FROM sensor
  WHERE street IS NOT NULL and city is null
  GROUP BY street"""


def test_parts() -> None:
    outputs = (("s", "street", None), ("city", "city", "min"), ("m", "speed", "max"))
    tests = (("street", False), ("city", True))
    assert read_simple_view(VIEW) == SimpleView("sensor", outputs, tests, ("street",))
    assert read_simple_view("select a from t") == SimpleView("t", (("a", "a", None),))


@pytest.mark.parametrize(
    "view",
    [
        "",
        "SELECT",
        "SELECT a",
        "SELECT a FROM",
        "SELECT a b FROM t",
        "SELECT a, FROM t",
        "SELECT * FROM t",
        "SELECT t.a FROM t",
        "SELECT `a` FROM t",
        "SELECT min(a) FROM t",
        "SELECT DISTINCT a FROM t",
        "SELECT current_date AS d FROM t",
        "SELECT a FROM t, u",
        "SELECT a FROM t u",
        "SELECT a FROM t WHERE a IS NOT NULL OR a IS NULL",
        "SELECT a FROM t WHERE a = 1",
        "SELECT a FROM t GROUP BY ALL",
        "SELECT a FROM t LIMIT 1",
        "SELECT a FROM t -- all",
        "SELECT a FROM t;",
        "SELECT å FROM t",
        "SELECT 1a FROM t",
        "SELECT aå FROM t",
    ],
)
def test_what_is_left_to_the_parser(view: str) -> None:
    assert read_simple_view(view) is None


FORMS = [
    "SELECT {} FROM t",
    "SELECT {} AS a FROM t",
    "SELECT a AS {} FROM t",
    "SELECT a, min({}) AS b FROM t GROUP BY a",
    "SELECT a, max(b) AS {} FROM t GROUP BY a",
    "SELECT a FROM {}",
    "SELECT a FROM t WHERE {} IS NULL",
    "SELECT a FROM t WHERE a IS NOT NULL AND {} IS NOT NULL",
    "SELECT a FROM t GROUP BY {}",
]


def test_words_of_sql() -> None:
    """Whatever word is where a name may be: it is a name for the parser, too, or left to it."""
    tokens = Spark.Tokenizer.KEYWORDS
    words = {word for key in tokens for word in key.split() if word.isidentifier()}
    words |= {t.name for t in Spark.Parser.NO_PAREN_FUNCTIONS}
    words |= {*Spark.Parser.NO_PAREN_FUNCTION_PARSERS, *Spark.Parser.FUNCTION_PARSERS}
    read = 0
    for word in sorted(words):
        for form in FORMS:
            simple = read_simple_view(form.format(word))
            if simple is not None:
                read += 1

                assert _unordered(parse_view(form.format(word))) == _unordered(simple)
    assert read > 500


NAMES = st.sampled_from(["a", "b", "_c", "Speed", "x1", "t", "min", "value", "year"])
COLUMNS = st.one_of(
    NAMES,
    st.tuples(NAMES, NAMES).map(lambda p: f"{p[0]} AS {p[1]}"),
    st.tuples(st.sampled_from(["min", "MAX", "Min", "sum"]), NAMES, NAMES).map(
        lambda p: f"{p[0]}({p[1]}) as {p[2]}"
    ),
)
TESTS = st.tuples(NAMES, st.sampled_from(["IS NULL", "is not null", "IS  NOT\nNULL", "= 1"]))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(COLUMNS, min_size=1, max_size=4),
    NAMES,
    st.lists(TESTS, max_size=3),
    st.lists(NAMES, max_size=3),
)
def test_random_views(
    columns: list[str], table: str, tests: list[tuple[str, str]], grouped: list[str]
) -> None:
    view = f"SELECT {', '.join(columns)} FROM {table}"
    if tests:
        view += " WHERE " + " AND ".join(" ".join(t) for t in tests)
    if grouped:
        view += " GROUP BY " + ",".join(grouped)
    simple = read_simple_view(view)
    if simple is not None:
        assert _unordered(parse_view(view)) == _unordered(simple)
    else:
        assert "sum" in view or "= 1" in view


def _unordered(view: SimpleView | None) -> object:
    """A view whose conditions, and columns of groups, have no order."""
    if view is None:
        return None
    grouped = None if view.grouped is None else frozenset(view.grouped)
    return view.table, view.outputs, frozenset(view.tests), grouped
