"""CONSTRUCT: its triples are those that rdflib finds at every time, each once."""

from collections import Counter
from pathlib import Path
from random import Random

from tests.sparql_counts.test_computed_absence import PREFIXES, run_seed

NAMES = ("subject", "predicate", "object")


def make_construct(random: Random) -> tuple[str, str]:
    """A query, and the SELECT DISTINCT of its triples."""
    patterns = ("GRAPH ?t { ?x :n ?n }", "GRAPH ?t { ?x :n ?n } ?x :f ?m")
    pattern = random.choice((*patterns, "GRAPH ?t { ?x :n ?n ; :m ?m }"))
    pattern += random.choice(["", " FILTER(?n > 0)", " FILTER EXISTS { ?x :f 1 }"])
    triples = [("?x", ":value", "?n"), ("?x", ":seen", "1"), (":all", ":has", "?x")]
    chosen = random.sample(triples, k=random.randint(1, 2))
    parts = []
    for triple in chosen:
        part = pattern
        for term, name in zip(triple, NAMES, strict=True):
            if term[0] == "?":
                part = part.replace(f"{term} ", f"?{name} ")
            else:
                part += f" BIND({term} AS ?{name})"
        parts.append(f"{{ {part} }}")
    shown = " ".join(f"?{name}" for name in NAMES)
    wanted = f"{PREFIXES}SELECT DISTINCT {shown} WHERE {{ {' UNION '.join(parts)} }}\n"
    template = " . ".join(" ".join(t) for t in chosen)
    return f"{PREFIXES}CONSTRUCT {{ {template} }} WHERE {{ {pattern} }}\n", wanted


def test_triples_are_rdflibs(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(12):
        told += run_seed(seed, tmp_path / str(seed), make_construct)
    assert told["with answers"] > 9, told
