"""Changes of texts: what they write, what they leave alone, and what they do not touch."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.edit import edit_sparql, edit_sql
from ontoweir.edit.edit_toml import add_in_item, edit_toml, prepend_item

VALUE = {"type": '"int"', "min": "0"}
WRITTEN = '{ type = "int", min = 0 }'
PATH = ("streams", "s", "columns", "k")

TOML = [
    (
        '[streams.s.columns]\nk = "int" # k = "x"\n',
        f'[streams.s.columns]\nk = {WRITTEN} # k = "x"\n',
    ),
    (
        '[streams.s]\ncolumns = { kk = "int", k = "int" }\n',
        f'[streams.s]\ncolumns = {{ kk = "int", k = {WRITTEN} }}\n',
    ),
    (
        "[streams.s.columns]\nk = { type = 'string', enum = [\n  '#', # }\n] }\na = 'int'\n",
        f"[streams.s.columns]\nk = {WRITTEN}\na = 'int'\n",
    ),
    (
        '[streams.s.columns.k]\ntype = "string"\n[streams.t]\n',
        '[streams.s.columns.k]\nmin = 0\ntype = "int"\n[streams.t]\n',
    ),
    ('[streams.s.columns]\n"k"="int"\n', f'[streams.s.columns]\n"k"={WRITTEN}\n'),
    (
        '[streams.s]\ncolumns.k = "int"\n',
        f"[streams.s]\ncolumns.k = {WRITTEN}\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), TOML)
def test_a_value_is_set(before: str, after: str) -> None:
    assert edit_toml(before, PATH, VALUE) == after


def test_a_key_that_is_not_there_is_written_below_its_section() -> None:
    assert edit_toml("[streams.s] # s\n\n[x]\n", ("streams", "s", "keys"), "[]") == (
        "[streams.s] # s\nkeys = []\n\n[x]\n"
    )


def test_a_section_that_is_not_there_is_not_made() -> None:
    assert edit_toml("[streams.t]\n", PATH, VALUE) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '[s]\nr = [ # some\n  { a = 1 }, # }\n  { a = "}", c = { d = 1 }}, # 2\n]\n',
            '[s]\nr = [ # some\n  { a = 1 }, # }\n  { a = "}", c = { d = 1 }, b = 9}, # 2\n]\n',
        ),
        ("[[s.r]]\na = 1\n[[s.r]] # two\na = 1\n", "[[s.r]]\na = 1\n[[s.r]] # two\nb = 9\na = 1\n"),
    ],
)
def test_a_table_of_a_list_has_one_key_more(before: str, after: str) -> None:
    assert add_in_item(before, ("s", "r"), 1, "b", "9") == after


def test_an_item_comes_first() -> None:
    path = ("s", "refs")
    assert prepend_item("[s]\nrefs = [{ a = 1 }] # x\n", path, "{ a = 2 }") == (
        "[s]\nrefs = [{ a = 2 }, { a = 1 }] # x\n"
    )
    assert prepend_item("[s]\nrefs = []\n", path, "{ a = 2 }") == "[s]\nrefs = [{ a = 2 }]\n"
    assert prepend_item("[s]\n", path, "{ a = 2 }") == "[s]\nrefs = [{ a = 2 }]\n"
    assert prepend_item("[t]\n", path, "{ a = 2 }") is None


@given(
    names=st.lists(st.from_regex(r"[a-z][a-z0-9_-]{0,3}", fullmatch=True), min_size=1, unique=True),
    comments=st.lists(st.sampled_from(["", " # no", ' # k = "int" }', " # ]"]), min_size=9),
    inline=st.booleans(),
    place=st.integers(0, 99),
)
def test_nothing_else_changes(
    names: list[str], comments: list[str], inline: bool, place: int
) -> None:
    """Whatever the columns are called and however they are written."""
    entries = [f'{n} = "int"' for n in names]
    if inline:
        text = f"[streams.s]\ncolumns = {{ {', '.join(entries)} }}{comments[0]}\n[x]\n"
    else:
        lines = [e + comments[i % len(comments)] for i, e in enumerate(entries)]
        text = "\n".join(["[streams.s.columns]", *lines, "[x]\n"])
    name = names[place % len(names)]
    made = edit_toml(text, ("streams", "s", "columns", name), VALUE)
    assert made is not None
    wanted = tomllib.loads(text)
    wanted["streams"]["s"]["columns"][name] = {"type": "int", "min": 0}
    assert tomllib.loads(made) == wanted
    assert made.count("#") == text.count("#")
    assert len(made.split("\n")) == len(text.split("\n"))


SPARQL = (
    "# SELECT { }\nPREFIX : <http://x/>\nselect ?a\n ?b # ?c }\nWHERE { GRAPH ?t { ?a :p '}' } }"
)


def test_sparql() -> None:
    with_it = SPARQL.replace("select ?a", "select DISTINCT ?a")
    assert edit_sparql.set_distinct(SPARQL, True) == with_it
    assert edit_sparql.set_distinct(with_it, True) == with_it
    assert edit_sparql.set_distinct(with_it, False) == SPARQL
    assert edit_sparql.drop_variable(SPARQL, "b", ["a"]) == SPARQL.replace(" ?b ", " ")
    assert edit_sparql.drop_variable(SPARQL, "z", ["a"]) is None
    assert edit_sparql.add_filter(SPARQL, "?x") == SPARQL[:-2] + " FILTER(?x) }"
    assert edit_sparql.set_distinct("ASK { ?s ?p ?o }", True) is None


SQL = "SELECT a.x, 'FROM, ' AS y -- WHERE\nFROM s a, (u) b /* OR */"


def test_sql() -> None:
    assert edit_sql.set_distinct(SQL, True) == SQL.replace("SELECT", "SELECT DISTINCT")
    assert edit_sql.drop_column(SQL, 1, 2) == SQL.replace(", 'FROM, ' AS y", "")
    assert edit_sql.drop_column(SQL, 0, 2) == SQL.replace("a.x, ", "")
    assert edit_sql.drop_column("SELECT * FROM s", 0, 2) is None
    assert edit_sql.add_condition(SQL, "c", ("a",)) == SQL.replace("(u) b", "(u) b\nWHERE c")
    assert edit_sql.add_condition(SQL, "c", ("z",)) is None
    text = "SELECT 1 AS x FROM s WHERE (p OR q) GROUP BY x"
    assert edit_sql.add_condition(text, "c", ("s",)) == (
        "SELECT 1 AS x FROM s WHERE (p OR q)\n  AND c GROUP BY x"
    )
    text = "select x from s where p or q;"
    assert edit_sql.add_condition(text, "c", ("S",)) == "select x from s where (p or q)\n  AND c;"


def test_sql_unions() -> None:
    text = "SELECT x FROM s UNION SELECT DISTINCT x FROM u"
    every = "SELECT x FROM s UNION ALL SELECT x FROM u"
    assert edit_sql.set_distinct(text, False) == every
    assert edit_sql.set_distinct(every, True) == "SELECT x FROM s UNION SELECT x FROM u"
    assert edit_sql.add_condition(every, "c", ("u",)) == f"{every}\nWHERE c"
    assert edit_sql.set_distinct("(SELECT x FROM s) UNION (SELECT x FROM u)", False) is None


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        (
            "SELECT ?a ?b (COUNT(?a) AS ?n) { ?x :p ?a, ?b } GROUP BY ?a ?b",
            "a",
            "SELECT ?b (COUNT(?a) AS ?n) { ?x :p ?a, ?b } GROUP BY ?b",
        ),
        (
            "SELECT (COUNT(*) AS ?n) ?a {\n ?x :p ?a\n}\nGROUP BY ?a # all\n",
            "a",
            "SELECT (COUNT(*) AS ?n) {\n ?x :p ?a\n} # all\n",
        ),
        ("SELECT ?a (COUNT(*) AS ?n) { ?x :p ?a } GROUP BY ?a", "b", None),
        ("SELECT ?a { ?x :p ?a }", "a", None),
    ],
)
def test_sparql_groups(before: str, name: str, after: str | None) -> None:
    assert edit_sparql.drop_group(before, name) == after


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        (
            "SELECT s.a, s.k AS b, COUNT(*) AS n FROM s GROUP BY s.a, s.k",
            1,
            "SELECT s.a, COUNT(*) AS n FROM s GROUP BY s.a",
        ),
        (
            "SELECT a, k, MAX(s.a) AS n FROM s GROUP BY s.a, s.k",
            0,
            "SELECT k, MAX(s.a) AS n FROM s GROUP BY s.k",
        ),
        (
            "SELECT COUNT(*) AS n, a FROM s WHERE b = 1\nGROUP BY a\n",
            1,
            "SELECT COUNT(*) AS n FROM s WHERE b = 1\n",
        ),
        (
            "SELECT a.k, b.k AS l, COUNT(*) AS n FROM a, b GROUP BY a.k, b.k",
            1,
            "SELECT a.k, COUNT(*) AS n FROM a, b GROUP BY a.k",
        ),
        ("SELECT k, COUNT(*) AS n FROM a, b GROUP BY a.k, b.k", 0, None),
        ("SELECT a FROM s GROUP BY a", 0, None),
        ("SELECT a, COUNT(*) AS n FROM s", 0, None),
        ("SELECT a, b FROM s UNION SELECT a, b FROM t", 0, None),
    ],
)
def test_sql_groups(before: str, place: int, after: str | None) -> None:
    assert edit_sql.drop_group(before, place) == after


INLINE = """\
[streams.s] # the stream
timestamp = { column = "ts", unit = "1 second" } # by its clock
columns.gate = "string" # dotted
"""


def test_inline_tables_and_dotted_keys_keep_their_comments() -> None:
    """What tomlkit sets: the places for which no line is simply added or replaced."""
    path = ("streams", "s", "timestamp", "lateness")
    assert edit_toml(INLINE, path, '"2}"') == INLINE.replace('" }', '", lateness = "2}"}', 1)
    assert edit_toml(INLINE, path, '"2 s"') == INLINE.replace(
        'second" }', 'second", lateness = "2 s" }'
    )
    made = edit_toml(INLINE, ("streams", "s", "columns", "badge"), '"int"')
    assert made == INLINE + 'columns.badge = "int"\n'


@pytest.mark.parametrize(
    ("before", "place", "after"),
    [
        (
            "SELECT id, COUNT(*) FROM t GROUP BY id",
            0,
            "SELECT id, COUNT(*) FROM t\nWHERE id IS NOT NULL GROUP BY id",
        ),
        (
            "SELECT COUNT(*) AS n, t.id AS one FROM t WHERE a OR b GROUP BY t.id",
            1,
            (
                "SELECT COUNT(*) AS n, t.id AS one FROM t WHERE (a OR b)\n"
                "  AND t.id IS NOT NULL GROUP BY t.id"
            ),
        ),
        ("SELECT id + 1 AS n, COUNT(*) FROM t GROUP BY id + 1", 0, None),
        ("SELECT id, 1 FROM t GROUP BY id UNION SELECT id, 2 FROM u GROUP BY id", 0, None),
        ("SELECT id FROM t GROUP BY id", 1, None),
    ],
)
def test_rows_without_null(before: str, place: int, after: str | None) -> None:
    assert edit_sql.leave_nulls(before, place) == after
