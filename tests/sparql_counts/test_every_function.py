"""Every function of SPARQL 1.1 (section 17.4), over values with errors and gaps, as rdflib has it;
or refused by its name."""

from pathlib import Path

from tests.sparql_counts.case import Atom, Branch, Case, Map, Query, Table
from tests.sparql_counts.compare_answers import Equal, Refused, compare_queries

TABLE = Table(
    "s",
    (
        ("id", "int"),
        ("n", "int"),
        ("d", "decimal(5,1)"),
        ("a", "string"),
        ("f", "double"),
        ("w", "timestamp"),
    ),
    stream=True,
    keys=(("id",),),
)
MAP = Map(
    "s",
    'rr:template "http://e/item/{id}"',
    (),
    (
        *((c, f'rr:column "{c}"') for c in "ndafw"),
        ("l", 'rr:column "a"; rr:language "de-at"'),
        ("P", 'rr:template "http://e/a b/{a}"; rr:termType rr:IRI'),
    ),
)
ROWS = (
    (0, 1, 5, "-2.5", "abcab", "0.5", "2020-02-29 23:59:58.250"),
    (0, 2, -3, "2.5", "12", "2.0", "1999-12-31 00:00:00"),
    (1, 3, 0, "0.0", "Zürich/ x", "-1.5", "2021-07-01 12:30:00"),
    (1, 4, None, None, "a", None, None),
    (2, 5, 7, "9.5", "", "100.25", "1969-12-31 23:59:59"),
)
READ = (
    "?n + ?d",
    "?n - 2",
    "?n * ?d",
    "?d / 4",
    "- ?n",
    "?n > ?d",
    "?n != 5",
    "?n IN (5, 7.0)",
    "?n NOT IN (5, 7)",
    "?n > 0 && ?d > 0",
    "?n > 0 || ?d > 0",
    "!(?n > 0)",
    "BOUND(?n)",
    "IF(?n > 0, 1, 2)",
    "COALESCE(?n / 0, 9.0)",
    "ABS(?d)",
    "CEIL(?d)",
    "FLOOR(?d)",
    "ROUND(?d)",
    "STR(?n)",
    "STR(?x)",
    "STRLEN(STR(?x))",
    "STRAFTER(STR(?x), '/item/')",
    "xsd:integer(STRAFTER(STR(?x), '/item/')) + 1",
    "STRLEN(?a)",
    "SUBSTR(?a, 2)",
    "SUBSTR(?a, 1, 2)",
    "UCASE(?a)",
    "LCASE(?a)",
    "STRSTARTS(?a, 'ab')",
    "STRENDS(?a, 'b')",
    "CONTAINS(?a, '')",
    "STRBEFORE(?a, 'b')",
    "STRAFTER(?a, 'b')",
    "STRBEFORE(?a, '')",
    "STRAFTER(?a, '')",
    "STRBEFORE(?a, 'zz')",
    "CONCAT(?a, '-', ?a)",
    "ENCODE_FOR_URI(?a)",
    "REGEX(?a, '^a')",
    "REGEX(?a, 'A', 'i')",
    "REPLACE(?a, 'b', 'cc')",
    "YEAR(?w)",
    "MONTH(?w)",
    "DAY(?w)",
    "HOURS(?w)",
    "MINUTES(?w)",
    "SECONDS(?w)",
    "MD5(?a)",
    "SHA1(?a)",
    "SHA256(?a)",
    "SHA384(?a)",
    "SHA512(?a)",
    "isIRI(?x)",
    "isURI(?n)",
    "isIRI(?p)",
    "isBLANK(?x)",
    "isLITERAL(?n)",
    "isLITERAL(?x)",
    "isNUMERIC(?n)",
    "isNUMERIC(?a)",
    "LANG(?l)",
    "LANG(?a)",
    "LANGMATCHES(LANG(?l), 'de')",
    "LANGMATCHES(LANG(?l), 'en')",
    "LANGMATCHES(LANG(?l), '*')",
    "LANGMATCHES(LANG(?a), '*')",
    "DATATYPE(?n) = xsd:integer",
    "DATATYPE(?a) = xsd:string",
    "DATATYPE(?d) != xsd:integer",
    "?x = IRI('http://e/item/2')",
    "?x != URI('http://e/item/2')",
    "?x IN (<http://e/item/1>, <http://e/item/3>)",
    "sameTerm(?x, <http://e/item/5>)",
    "IF(?x = <http://e/item/5>, 'five', 'other')",
    "?p = <http://e/a%20b/12>",
    "xsd:integer(?a)",
    "xsd:decimal(?n)",
    "xsd:string(?n)",
)
REFUSED = (
    "RAND() > 0.5",
    "STR(UUID())",
    "STRUUID()",
    "isBLANK(BNODE())",
    "STR(NOW())",
    "TZ(?w)",
    "TIMEZONE(?w) = ?w",
    "STRLANG(?a, 'en')",
    "STRDT(?a, xsd:string)",
    "?n / ?d",
    "DATATYPE(?n)",
    "IRI(?a)",
    "CONTAINS(?a, ?a)",
)


def _query(expression: str) -> Query:
    needed = [c for c in "ndafwlP" if f"?{c.lower()}" in expression] or ["a"]
    atoms = tuple(Atom("t", "?x", (c,), f"?{c.lower()}") for c in needed)
    return Query(("?x", "?e"), (Branch(atoms, (f"BIND({expression} AS ?e)",)),))


def test_every_function_is_as_rdflib_has_it(tmp_path: Path) -> None:
    case = Case((TABLE,), (MAP,), _query("?n"), {"s": ROWS})
    queries = [_query(text) for text in READ]
    told = compare_queries(case, queries, [case.rows], tmp_path / "case")
    wrong = [
        f"{text}: {outcome}"
        for text, (outcome,) in zip(READ, told, strict=True)
        if not isinstance(outcome, Equal) or not outcome.answers
    ]
    assert not wrong, "\n".join(wrong)


def test_functions_that_are_not_exact_are_refused(tmp_path: Path) -> None:
    case = Case((TABLE,), (MAP,), _query("?n"), {"s": ROWS})
    queries = [_query(text) for text in REFUSED]
    told = compare_queries(case, queries, [case.rows], tmp_path / "case")
    read = [t for t, (one,) in zip(REFUSED, told, strict=True) if not isinstance(one, Refused)]
    assert not read
