"""The passes together: the trace, what each is worth, and what is told of domains."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.report.show_stage import show_stage
from ontoweir.rewriter.absence.split_text import split_text
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.list_domains import list_domains
from ontoweir.rewriter.algebra.name_occurrences import name_occurrences
from ontoweir.rewriter.algebra.print_spj import show_condition
from ontoweir.rewriter.algebra.trace_steps import TraceStep, trace_steps
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
from ontoweir.rewriter.passes.prune_disjuncts import Candidate
from ontoweir.rewriter.passes.remove_self_joins import remove_self_joins
from ontoweir.rewriter.passes.run_passes import DOMAINS, PASSES, pass_names, run_passes
from ontoweir.rewriter.sql.print_sql import print_sql
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
d = "decimal(9,1)"
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


def test_a_null_is_not_equal_to_itself(catalog: Catalog) -> None:
    both = spj("s a, s b", "a.v = b.v")
    assert not is_contained(spj("s a"), both, catalog)
    assert is_contained(spj("s a", "a.v > 1"), both, catalog)


def test_of_other_streams_nothing_is_searched(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No reference leads to a stream; to a relation one may, so it is looked for."""
    catalog = replace(
        catalog, streams={**catalog.streams, "t": replace(catalog.streams["s"], name="t")}
    )
    other = replace(spj("s a"), occurrences=(Occurrence("a", "t"),))
    monkeypatch.setattr("ontoweir.rewriter.algebra.contain_spj._chase", None)
    assert not is_contained(spj("s a"), other, catalog)
    with pytest.raises(TypeError):
        is_contained(spj("s a"), spj("s a"), catalog)


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
    assert "v <= 9" in sql
    assert "name IN ('p', 'q')" in sql
    steps: list[TraceStep] = []
    run_passes(
        [Candidate(query, ASKED)],
        catalog,
        distinct=True,
        on_step=steps.append,
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
        on_step=steps.append,
    )
    assert not [s for s in steps if s.name == DOMAINS]


def test_derived_equalities_let_keys_join(catalog: Catalog) -> None:
    query = spj("s a, s b", "a.k = b.k", "a.ts <= b.ts", "b.ts <= a.ts")
    assert len(remove_self_joins(derive_equalities(query, catalog), catalog).occurrences) == 1


def test_a_step_says_what_a_pass_did(catalog: Catalog) -> None:
    before = spj("s a, s b", "a.k = b.k", "a.ts = b.ts", "b.v > 3")
    after = remove_self_joins(before, catalog)
    assert trace_steps("self-joins on keys", 7, before, after) == (
        TraceStep(
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
# their verdicts change (benchmarks/compile/rewrite_passes.py prints the table).
WORTH = {
    "": (153, 54, 561, 0),
    "disjointness axioms": (153, 54, 561, 0),  # contradictory filters find the same one
    "equalities propagated": (153, 54, 561, 0),  # the passes that remove joins call it
    "equalities derived": (153, 54, 561, 0),
    "self-joins on keys": (304, 54, 782, 0),  # the checker removes what is left of them
    "joins on references": (160, 54, 565, 2),
    "redundant occurrences": (153, 54, 561, 0),
    "contradictions": (153, 54, 561, 0),  # disjointness axioms find the same one
    "contained disjuncts": (159, 57, 579, 0),
    "constants pushed": (153, 54, 561, 0),
    "names": (153, 54, 561, 0),
    "all": (346, 59, 1348, 2),
}


@pytest.mark.slow
def test_what_each_pass_is_worth_on_the_example() -> None:
    assert set(WORTH) - {"", "all"} == set(pass_names())
    assert len({rule.name for rule in PASSES}) == len(PASSES)
    full = Workspace(load_project(TRAFFIC))
    texts = {f.stem: f.read_text(encoding="utf-8") for f in (TRAFFIC / "queries").glob("*.rq")}
    plain = [name for name in full.query_names() if split_text(texts[name], name) is None]
    parsed = [full.parse(name) for name in plain]
    decided: dict[SpjUnion, str] = {}  # most passes leave most queries as they are
    verdicts: dict[str, str] = {}
    found: dict[str, tuple[int, int, int, int]] = {}
    for label in WORTH:
        skip = frozenset(pass_names() if label == "all" else [label] if label else [])
        workspace = Workspace(full.project, skip=skip)
        workspace.__dict__.update(tbox=full.tbox, mappings=full.mappings)
        compiled = [workspace.compile_branches(branches) for branches in parsed]
        for c in compiled:
            if c.union not in decided:
                decided[c.union] = workspace.check(c).tier.value
        tiers = {c.name: decided[c.union] for c in compiled}
        verdicts = verdicts or tiers
        disjuncts = [d for c in compiled for d in c.union.disjuncts]
        found[label] = (
            sum(len(d.occurrences) - 1 for d in disjuncts),
            len(disjuncts),
            sum(len(d.conditions) for d in disjuncts),
            sum(tiers[name] != verdicts[name] for name in tiers),
        )
    assert found == WORTH


def test_occurrences_are_named_by_their_tables(catalog: Catalog) -> None:
    query = spj("s x0, s x1, r x2", "x0.k = x1.k", "x1.k = x2.k")
    named = name_occurrences(query, catalog)
    assert [o.alias for o in named.occurrences] == ["s_1", "s_2", "r"]
