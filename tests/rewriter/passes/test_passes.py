"""Each pass of semantic optimisation: where it applies, where it does not, what it is worth."""

from decimal import Decimal
from pathlib import Path

import pytest

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import (
    Because,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    IrreflexiveRole,
    NamedClass,
    Role,
    SubConcept,
    SubRole,
    TBox,
)
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.report.show_stage import show_stage
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.algebra.list_domains import list_domains
from ontoweir.rewriter.algebra.name_occurrences import name_occurrences
from ontoweir.rewriter.algebra.print_spj import show_condition
from ontoweir.rewriter.algebra.trace_steps import Step, trace_steps
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    LiteralOutput,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.passes.derive_equalities import derive_equalities
from ontoweir.rewriter.passes.propagate_equalities import propagate_equalities
from ontoweir.rewriter.passes.prune_disjuncts import Candidate
from ontoweir.rewriter.passes.push_constants import push_constants
from ontoweir.rewriter.passes.remove_redundant_occurrences import remove_redundant_occurrences
from ontoweir.rewriter.passes.remove_reference_joins import remove_reference_joins
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.passes.run_passes import DOMAINS, PASSES, pass_names, run_passes
from ontoweir.rewriter.sparql.parse_query import parse_union
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.ucq.find_disjointness import find_disjointness
from tests.paths import TRAFFIC

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "5 minutes" }
keys = [["k", "ts"]]
references = [{ columns = ["k"], relation = "r", to = ["k"] }]
[streams.s.columns]
k = "int"
v = { type = "int", min = 0, max = 9 }
d = "decimal(5,1)"
f = "double"
name = { type = "string", enum = ["p", "q"] }
[relations.r]
source = { format = "csv", path = "r" }
keys = [["k"]]
columns = { k = "int", z = "int" }
"""
OPS = {op.value: op for op in Op}
ASKED = ConjunctiveQuery("q", (), (), (), True)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    return load_project(tmp_path, environ={}).catalog


def attribute(text: str) -> Attribute:
    return Attribute(*text.split("."))


def condition(text: str) -> Condition:
    """`a.x < b.y + 3`, `a.x = 5` or `a.name = p`."""
    left, op, right, *offset = text.split()
    if "." in right and not right[0].isdigit():
        shift = int("".join(offset)) if offset else 0
        return Compare(attribute(left), OPS[op], attribute(right), shift)
    value = Decimal(right) if "." in right else int(right) if right.isdigit() else right
    return Compare(attribute(left), OPS[op], Constant(value))


def spj(tables: str, *conditions: str) -> SpjQuery:
    """Occurrences such as "s a, r b", conditions, and the first one's k as the result."""
    pairs = [part.split() for part in tables.split(",")]
    occurrences = tuple(Occurrence(alias, table) for table, alias in pairs)
    output = LiteralOutput(Attribute(occurrences[0].alias, "k"))
    return SpjQuery(occurrences, tuple(map(condition, conditions)), (("k", output),))


def shown(query: SpjQuery) -> list[str]:
    return [show_condition(c) for c in query.conditions]


@pytest.mark.parametrize(
    ("tables", "conditions", "left"),
    [
        ("s a, s b", ("a.k = b.k", "a.ts = b.ts"), 1),
        ("s a, s b", ("a.k = 3", "b.k = 3", "a.ts = b.ts"), 1),
        ("r a, r b", ("a.k = b.k",), 1),
        ("s a, r b, r c", ("a.k = b.k", "a.k = c.k"), 2),  # key → row, through a reference
        ("s a, s b", ("a.k = b.k",), 2),
        ("s a, s b", ("a.ts = b.ts",), 2),
        ("s a, s b", ("a.v = b.v", "a.ts = b.ts"), 2),
        ("s a, s b", ("a.k = b.k", "a.ts <= b.ts", "b.ts <= a.ts"), 2),  # not yet seen to be equal
    ],
)
def test_self_joins_on_keys(
    tables: str, conditions: tuple[str, ...], left: int, catalog: Catalog
) -> None:
    assert len(remove_self_joins(spj(tables, *conditions), catalog).occurrences) == left


@pytest.mark.parametrize(
    ("tables", "conditions", "left"),
    [
        ("s a, r b", ("a.k = b.k",), 1),
        ("s a, r b", ("a.k = b.k", "b.z > 1"), 2),  # used
        ("s a, r b", ("a.v = b.k",), 2),  # not declared
        ("r a, r b", ("a.z = b.k",), 2),
    ],
)
def test_joins_on_references(
    tables: str, conditions: tuple[str, ...], left: int, catalog: Catalog
) -> None:
    assert len(remove_reference_joins(spj(tables, *conditions), catalog).occurrences) == left


@pytest.mark.parametrize(
    ("tables", "conditions", "left"),
    [
        ("s a, s b", ("a.v = 3", "b.v = 3"), ["a"]),  # [A] Def. 8.2
        ("s a, s b", ("a.v > 3", "b.v > 2"), ["a"]),  # the stronger one covers the weaker
        ("s a, s b", ("a.v = b.v", "b.v > 2"), ["a"]),
        ("s a, s b, s c", ("a.v < b.v", "a.v < c.v"), ["a", "b"]),
        ("s a, s b", ("a.ts <= b.ts",), ["a"]),
        ("s a, s b", ("a.ts = b.ts", "b.v > 3", "a.v > 3"), ["a"]),
        # b may be a row that a's declared reference guarantees, but the result is made of a
        ("s a, s b, r c", ("a.k = c.k", "b.k = c.k"), ["a", "c"]),
        ("s a, s b", ("a.v = 3", "b.v = 4"), ["a", "b"]),
        ("s a, s b", ("a.ts < b.ts",), ["a", "b"]),  # a later row
        ("s a, s b", ("a.v < b.v",), ["a", "b"]),
        ("s a, s b", ("a.v > 2", "b.v > 3"), ["a", "b"]),  # the result is made of the weaker one
        ("s a, r b", ("a.k = b.k",), ["a", "b"]),  # another table
    ],
)
def test_redundant_occurrences(
    tables: str, conditions: tuple[str, ...], left: list[str], catalog: Catalog
) -> None:
    query = remove_redundant_occurrences(spj(tables, *conditions), catalog)
    assert [o.alias for o in query.occurrences] == left


def test_what_a_redundant_occurrence_implies_stays(catalog: Catalog) -> None:
    query = spj("s a, s b, s c", "a.v < b.v", "b.v < c.v", "c.d > 3", "b.d > 3")
    assert remove_redundant_occurrences(query, catalog) == query
    between = spj("s a, s b, s c", "a.v = b.v", "b.v = c.v", "c.d > 3", "b.d > 2")
    found = remove_redundant_occurrences(between, catalog)
    assert [o.alias for o in found.occurrences] == ["a", "c"]
    assert "a.v = c.v" in shown(found)


def test_a_time_and_a_number_are_not_compared(catalog: Catalog) -> None:
    """Not even where their constants would allow it: a.ts <= 4 <= a.v."""
    query = spj("s a, s b, s c", "a.ts = c.ts", "b.ts <= c.ts", "a.ts <= 4", "a.v >= 4")
    found = remove_redundant_occurrences(query, catalog)
    assert [o.alias for o in found.occurrences] == ["a"]
    assert shown(found) == ["a.ts <= 4", "a.v >= 4"]
    apart = spj(
        "s a, s b, s c", "a.ts = c.ts", "b.ts <= c.ts", "a.ts <= 4", "a.v >= 4", "b.v < a.v"
    )
    found = remove_redundant_occurrences(apart, catalog)
    assert [o.alias for o in found.occurrences] == ["a", "b"]
    assert {"b.ts <= a.ts", "b.ts <= 4"} <= set(shown(found))
    assert "b.ts <= a.v" not in shown(found)


def test_a_null_is_not_equal_to_itself(catalog: Catalog) -> None:
    """Where a redundant occurrence goes, what it was equated with stays not NULL."""
    query = remove_redundant_occurrences(spj("s a, s b", "a.v = b.v"), catalog)
    assert [o.alias for o in query.occurrences] == ["a"]
    assert "a.v IS NOT NULL" in shown(query)
    both = spj("s a, s b", "a.v = b.v")
    assert not is_contained(spj("s a"), both, catalog)
    assert is_contained(spj("s a", "a.v > 1"), both, catalog)
    times = remove_redundant_occurrences(spj("s a, s b", "a.ts = b.ts"), catalog)
    assert "a.ts IS NOT NULL" not in shown(times)  # a timestamp is never NULL


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        # one attribute stands for all that equal it, in every other condition
        (("a.v = b.v", "b.v > 3"), ["a.v = b.v", "a.v > 3"]),
        (("a.v = b.v", "b.v = c.v", "c.v > 3"), ["a.v = b.v", "a.v = c.v", "a.v > 3"]),
        (("b.v = a.v",), ["a.v = b.v"]),
        (("a.v = a.v",), ["a.v IS NOT NULL"]),
        (("a.v <= a.v",), ["a.v IS NOT NULL"]),
        (("a.ts = a.ts",), []),  # never NULL
        (("a.v < b.v", "b.v > 3"), ["a.v < b.v", "b.v > 3"]),  # not equal
        (("a.v = b.v + 1", "b.v > 3"), ["a.v = b.v + 1", "b.v > 3"]),  # not the same value
        (("a.v < a.v",), ["a.v < a.v"]),  # left for "contradictions" to see
    ],
)
def test_equalities_propagated(
    conditions: tuple[str, ...], expected: list[str], catalog: Catalog
) -> None:
    found = shown(propagate_equalities(spj("s a, s b, s c", *conditions), catalog))
    assert found == expected


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ("s x0", ["s"]),
        ("s x0, r x1", ["s", "r"]),
        ("s x0, s x1, r x2", ["s_1", "s_2", "r"]),  # numbered only where there are several
    ],
)
def test_names(tables: str, expected: list[str], catalog: Catalog) -> None:
    named = name_occurrences(spj(tables, "x0.k = 3"), catalog)
    assert [o.alias for o in named.occurrences] == expected
    assert shown(named) == [f"{expected[0]}.k = 3"]
    assert name_occurrences(named, catalog) == named


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (("a.v > b.k",), ["0 <= a.v <= 9"]),
        (("a.v > 0",), ["a.v <= 9"]),
        (("a.v >= 3", "a.v < 7"), []),  # implied
        (("a.v >= 0", "a.v <= 10"), ["a.v <= 9"]),
        (("a.v = 4",), []),
        (("a.v <> 4",), ["0 <= a.v <= 9"]),
        (("a.name <> p",), ["a.name in {p, q}"]),
        (("a.name = p",), []),
        (("a.d > 3",), []),  # nothing is declared of d
        (("b.z > 3",), []),  # a static relation that breaks its domain is an error
        (("a.k = 3",), []),  # what the query does not use may be anything
    ],
)
def test_declared_domains(
    conditions: tuple[str, ...], expected: list[str], catalog: Catalog
) -> None:
    found = list_domains(spj("s a, r b", *conditions), catalog)
    assert list(map(str, found)) == expected


def test_declared_domains_are_filters_in_sql_and_steps_in_the_trace(catalog: Catalog) -> None:
    query = spj("s a", "a.v > 3", "a.name <> p")
    sql = print_sql(SpjUnion("q", ("k",), (query,), distinct=True), catalog)
    assert "a.v <= 9" in sql
    assert "a.name IN ('p', 'q')" in sql
    steps: list[Step] = []
    run_passes(
        [Candidate(query, ASKED)],
        catalog,
        distinct=True,
        record=steps.append,
    )
    (step,) = [s for s in steps if s.name == DOMAINS]
    assert step.did == "with s.v <= 9, s.name in {p, q}"
    steps.clear()
    skip = frozenset([DOMAINS])
    run_passes(
        [Candidate(query, ASKED)],
        catalog,
        distinct=True,
        skip=skip,
        record=steps.append,
    )
    assert not [s for s in steps if s.name == DOMAINS]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (("a.ts <= b.ts", "b.ts <= a.ts"), ["a.ts = b.ts"]),
        (("a.ts < b.ts + 1", "b.ts < a.ts + 1"), ["a.ts = b.ts"]),  # whole steps
        (("a.ts <= b.ts + 2", "b.ts <= c.ts - 2", "c.ts <= a.ts"), None),
        (("a.v > 4", "a.v < 6"), ["a.v = 5"]),
        (("a.d >= 4.5", "a.d <= 4.5"), ["a.d = 4.5"]),
        (("a.d > 4", "a.d < 6"), ["a.d > 4", "a.d < 6"]),  # decimals between
        (("a.f <= b.f", "b.f <= a.f"), ["a.f <= b.f"]),  # floating point: left alone
        (("a.v >= 9",), ["a.v >= 9"]),  # declared ranges are not used
        (("a.ts <= b.ts",), ["a.ts <= b.ts"]),
    ],
)
def test_equalities_derived(
    conditions: tuple[str, ...], expected: list[str] | None, catalog: Catalog
) -> None:
    found = shown(derive_equalities(spj("s a, s b, s c", *conditions), catalog))
    if expected is None:  # a circle of three: all are tied to each other
        assert "a.ts = c.ts" in found
    else:
        assert found[: len(expected)] == expected


def test_derived_equalities_let_keys_join(catalog: Catalog) -> None:
    query = spj("s a, s b", "a.k = b.k", "a.ts <= b.ts", "b.ts <= a.ts")
    assert len(remove_self_joins(derive_equalities(query, catalog), catalog).occurrences) == 1


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        (("a.v > 9",), True),  # the declared range
        (("a.name = x",), True),  # the declared enumeration
        (("a.v = 1", "a.v = 2"), True),
        (("a.v < 3", "a.v > 5"), True),
        (("a.ts < b.ts", "b.ts < a.ts"), True),
        (("a.ts < b.ts", "b.ts < c.ts", "c.ts <= a.ts + 1"), True),
        (("a.v > b.v + 8", "b.v >= 1"), True),  # at most 9
        (("a.v < b.v", "b.v < c.v", "c.v < a.v"), True),
        (("a.v = 1", "a.v = b.v", "b.v = 2"), True),
        (("a.v > 8",), False),
        (("a.name = p",), False),
        (("a.ts < b.ts", "b.ts < c.ts", "c.ts <= a.ts + 2"), False),
        (("a.v > b.v + 8", "b.v >= 0"), False),
        (("a.d > 4", "a.d < 5"), False),
    ],
)
def test_contradictions(conditions: tuple[str, ...], found: bool, catalog: Catalog) -> None:
    query = spj("s a, s b, s c", *conditions)
    assert (find_contradiction(query, catalog) is not None) == found


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (("a.k = b.k", "a.k = 5"), ["a.k = 5", "b.k = 5"]),
        (("a.v = 5", "b.v < a.v + 2"), ["a.v = 5", "b.v < 7"]),
        (("a.v = 5", "a.v < b.v + 2"), ["a.v = 5", "b.v > 3"]),
        (("a.v = 5", "b.v = 6", "a.v < b.v"), ["a.v = 5", "b.v = 6"]),
        (("a.k = b.k", "a.v = 5"), ["a.k = b.k", "a.v = 5"]),
        (("a.v = a.d", "a.v = 5"), ["a.v = a.d", "a.v = 5"]),  # other types write it otherwise
        (("a.name = b.name", "a.name = p"), ["a.name = 'p'", "b.name = 'p'"]),
    ],
)
def test_constants_pushed(
    conditions: tuple[str, ...], expected: list[str], catalog: Catalog
) -> None:
    assert shown(push_constants(spj("s a, s b", *conditions), catalog)) == expected


def named(name: str) -> NamedClass:
    return NamedClass("http://e/" + name)


def role(name: str, inverse: bool = False) -> Role:
    return Role("http://e/" + name, inverse)


WHY = Because("axiom")
TBOX = TBox(
    (
        SubConcept(named("A1"), named("A"), WHY),
        SubConcept(Exists(role("p")), named("B"), WHY),
        DisjointConcepts(named("A"), named("B"), WHY),
        SubConcept(named("E"), named("A"), WHY),
        SubConcept(named("E"), named("B"), WHY),
        DisjointRoles(role("q"), role("r"), WHY),
        DisjointRoles(role("q"), role("q", True), WHY),
        IrreflexiveRole(role("parent"), WHY),
        SubRole(role("mother", True), role("parent"), WHY),
        SubConcept(Exists(role("writes")), named("A"), WHY),
        SubConcept(Exists(role("writes", True)), named("B"), WHY),
        SubRole(role("parent"), role("kin"), WHY),
    )
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("?x a :A , :B", True),
        ("?x a :A1 , :B", True),
        ("?x a :A1 ; :p ?y", True),
        ("?x a :E", True),  # empty itself
        ("?x a :A . GRAPH ?t { ?x a :B }", True),  # static facts hold always
        ("GRAPH ?t { ?x a :A , :B }", True),
        ("?x :q ?y ; :r ?y", True),
        ("?x :q ?y . ?y :q ?x", True),
        ("GRAPH ?t { ?x a :A } GRAPH ?u { ?x a :B }", False),  # now this, then that
        ("?x a :A . ?y a :B", False),
        ("?x a :A . ?y :p ?x", False),
        ("?x :q ?y ; :r ?z", False),
        ("?x :q ?x", True),  # asymmetric
        ("?x :parent ?x", True),
        ("GRAPH ?t { ?x :mother ?x }", True),  # below, turned round
        (":a :parent :a ; :r ?x", True),
        ("?x :writes ?x", True),  # domain and range are disjoint
        ("?x :parent ?y", False),
        (":a :parent :b ; :r ?x", False),
        ("?x :parent ?y . ?y :parent ?x", False),
        ("?x :kin ?x", False),  # above
    ],
)
def test_disjointness_axioms(text: str, found: bool) -> None:
    body = f"PREFIX : <http://e/> SELECT ?x {{ {text} }}"
    (query,) = parse_union(body, name="q", file="q.rq")
    assert (find_disjointness(query, TBOX) is not None) == found


def test_a_step_says_what_a_pass_did(catalog: Catalog) -> None:
    before = spj("s a, s b", "a.k = b.k", "a.ts = b.ts", "b.v > 3")
    after = remove_self_joins(before, catalog)
    assert trace_steps("self-joins on keys", 7, before, after) == (
        Step(
            "self-joins on keys",
            "disjunct 7",
            "joins 1 → 0, without s b; with a.v > 3, a.k IS NOT NULL",
        ),
    )
    assert trace_steps("self-joins on keys", 7, after, after) == ()


def test_the_trace_of_a_query_names_its_passes() -> None:
    workspace = Workspace(load_project(TRAFFIC))
    compiled = workspace.compile("sensors-congested-again-after-an-hour")
    lines, more = show_stage(workspace, compiled, "trace", dialect="spark", limit=1)
    assert not more
    assert lines == [str(step) for step in compiled.trace]
    names = {step.name for step in compiled.trace}
    assert names >= {"existential axioms", "self-joins on keys", "joins on references", "result"}
    assert any("SubClassOf(:DenseReading :CongestedReading)" in line for line in lines)
    empty = workspace.compile("readings-both-fast-and-congested").trace
    assert [step.did for step in empty if step.name == "disjointness axioms"]


# Without a pass: joins, disjuncts and conditions of all the example's queries, and how many of
# their verdicts change (benchmarks/rewrite_passes.py prints the table with names and times).
WORTH = {
    "": (139, 47, 515, 0),
    "disjointness axioms": (139, 47, 515, 0),  # contradictory filters find the same one
    "equalities propagated": (139, 47, 515, 0),  # the passes that remove joins call it
    "equalities derived": (139, 47, 515, 0),
    "self-joins on keys": (283, 47, 729, 0),  # the checker removes what is left of them
    "joins on references": (146, 47, 519, 2),
    "redundant occurrences": (139, 47, 515, 0),
    "contradictions": (139, 47, 515, 0),  # disjointness axioms find the same one
    "contained disjuncts": (145, 50, 533, 0),
    "constants pushed": (139, 47, 515, 0),
    "names": (139, 47, 515, 0),
    "all": (325, 52, 1258, 2),
}


@pytest.mark.slow
def test_what_each_pass_is_worth_on_the_example() -> None:
    assert set(WORTH) - {"", "all"} == set(pass_names())
    assert len({rule.name for rule in PASSES}) == len(PASSES)
    full = Workspace(load_project(TRAFFIC))
    verdicts: dict[str, str] = {}
    found: dict[str, tuple[int, int, int, int]] = {}
    for label in WORTH:
        skip = frozenset(pass_names() if label == "all" else [label] if label else [])
        workspace = Workspace(full.project, skip=skip)
        workspace.__dict__.update(tbox=full.tbox, mappings=full.mappings)
        compiled = [workspace.compile(name) for name in workspace.query_names()]
        tiers = {c.name: workspace.check(c).tier.value for c in compiled}
        verdicts = verdicts or tiers
        disjuncts = [d for c in compiled for d in c.union.disjuncts]
        found[label] = (
            sum(len(d.occurrences) - 1 for d in disjuncts),
            len(disjuncts),
            sum(len(d.conditions) for d in disjuncts),
            sum(tiers[name] != verdicts[name] for name in tiers),
        )
    assert found == WORTH
