"""EXISTS as a value, of BIND and in SELECT: the answers are rdflib's, at every time."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.clauses.split_binds import split_binds
from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_absence_choices import make_exists
from tests.sparql_counts.test_computed_absence import PREFIXES, run_seed


def make_value(random: Random) -> tuple[str, str]:
    """A query, and the same of what is final at a time, @, in words that rdflib reads."""
    exists, final = make_exists(random, "1", "t", inside=False)
    negated = random.choice(["", "NOT "])
    pattern = "GRAPH ?t { ?x :n ?n }"
    beside = ("", "FILTER(?n > 0)", "OPTIONAL { ?x :f ?g }", "FILTER EXISTS { ?x :f 1 }")
    more = random.choice(beside)
    if random.random() < 0.5:
        head, bind = "?b ?x ?n", f"BIND({negated}{exists} AS ?b)"
        bind, later = random.choice([(bind, more), (f"{more} {bind}", "")])
    else:
        head, bind, later = f"({negated}{exists} AS ?b) ?x ?n", "", more
    distinct = random.choice(["", "", "DISTINCT "])
    yes, no = ("true", "false") if not negated else ("false", "true")
    parts = (
        f"{{ {pattern} {more} FILTER {exists} BIND({yes} AS ?b) }}",
        f"{{ {pattern} {more} FILTER NOT {exists} FILTER({final}) BIND({no} AS ?b) }}",
    )
    text = f"{PREFIXES}SELECT {distinct}{head} WHERE {{\n  {pattern} {bind} {later}\n}}\n"
    return text, f"{PREFIXES}SELECT {distinct}?b ?x ?n WHERE {{ {' UNION '.join(parts)} }}\n"


def test_some_have_answers(tmp_path: Path) -> None:
    """What random cases say is not said of nothing."""
    told = Counter[str]()
    for seed in range(4):
        told += run_seed(seed, tmp_path / str(seed), make_value)
    assert told["with answers"] > 3


@budget(0.1)
@given(seed=SEEDS)
def test_values_of_exists_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        for kind in run_seed(seed, Path(folder, "case"), make_value):
            event(kind)


def test_what_is_bound_later_is_another_variable() -> None:
    text = "SELECT ?x { ?x :n ?n BIND(EXISTS { ?x :p ?q } AS ?b) ?x :q ?q }"
    with pytest.raises(QueryError, match="bound after it"):
        split_binds(text, "q")
    assert len(split_binds(text.replace("?x :q ?q", "?x :q ?r"), "q")) == 2
    plain = "SELECT ?x { ?x :n ?n BIND(?n + 1 AS ?b) FILTER EXISTS { ?x :p 1 } }"
    assert split_binds(plain, "q") == (plain,)
