"""Expressions of GROUP BY get the name that SELECT gives them, or one of their own."""

import pytest

from ontoweir.rewriter.grouped.name_groups import name_groups

BODY = "{ GRAPH ?t { ?x :p ?v } }"


@pytest.mark.parametrize(
    ("head", "groups", "named"),
    [
        ("(HOURS(?t) AS ?h) (COUNT(*) AS ?n)", "HOURS(?t)", ("?h", "(HOURS(?t) AS ?h)")),
        ("(hours(?t) AS ?h) (COUNT(*) AS ?n)", "?x (HOURS(?t))", ("?h", "?x (HOURS(?t) AS ?h)")),
        ("((?v + 1) AS ?w) (COUNT(*) AS ?n)", "(?v + 1)", ("?w", "(?v + 1 AS ?w)")),
    ],
)
def test_what_select_shows(head: str, groups: str, named: tuple[str, str]) -> None:
    made = name_groups(f"SELECT {head} {BODY} GROUP BY {groups} HAVING (COUNT(*) > 1)")
    shown, by = named
    assert made.split() == (
        f"SELECT {shown} (COUNT(*) AS ?n) {BODY} GROUP BY {by} HAVING (COUNT(*) > 1)".split()
    )


def test_what_select_does_not_show() -> None:
    text = f"SELECT (COUNT(*) AS ?n) {BODY} GROUP BY HOURS(?t)"
    assert name_groups(text) == text.replace("HOURS(?t)", "(HOURS(?t) AS ?group)")


def test_a_select_within() -> None:
    inner = f"SELECT (DAY(?t) AS ?d) (COUNT(*) AS ?n) {BODY} GROUP BY DAY(?t)"
    made = name_groups(f"SELECT ?d ?n {{ {{ {inner} }} }}")
    named = f"SELECT ?d (COUNT(*) AS ?n) {BODY} GROUP BY (DAY(?t) AS ?d)"
    assert made.split() == f"SELECT ?d ?n {{ {{ {named} }} }}".split()


@pytest.mark.parametrize("groups", ["?x", "(HOURS(?t) AS ?h)", "?x (ow:tumble(?t, 1) AS ?h) ?v"])
def test_named_ones_stay(groups: str) -> None:
    text = f"SELECT ?x (COUNT(*) AS ?n) {BODY} GROUP BY {groups}"
    assert name_groups(text) == text
