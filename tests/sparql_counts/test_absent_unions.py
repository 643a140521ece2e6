"""UNION inside of NOT EXISTS and EXISTS, whose FILTERs compare what is bound around them: the
answers are rdflib's at every time. What is asked of rdflib has a clause for each part, as it does
not put solutions into groups inside of EXISTS (SPARQL 1.1, 18.6)."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_computed_absence import Clause, make_text, run_seed


class _Clauses:
    """Makes clauses, and knows what is asked of rdflib instead."""

    def __init__(self) -> None:
        self.plain: dict[str, str] = {}

    def __call__(self, random: Random, number: int, time: str, *, inside: bool) -> Clause:
        """A clause with a UNION; `inside` is nothing: its patterns have times of their own."""
        present = random.random() < 0.4
        u, parts, finals = f"u{number}", [], []
        shared = f" FILTER(?{u} < ?{time})" if random.random() < 0.3 else ""
        for _ in range(2 if present else random.choice([2, 2, 3])):
            value = f"?p{number}" if random.random() < 0.6 else str(random.randint(0, 3))
            if random.random() < 0.25 and not shared:
                parts.append(f"?x :f {value} FILTER(?n > {random.randint(0, 2)})")
                finals.append("true")
                continue
            after = f'?{time} + "PT{random.choice([0, 0, 5])}M"^^xsd:dayTimeDuration'
            low = f"?{u} >= ?{time} && " if random.random() < 0.3 else ""
            rest = shared or f" FILTER({low}?{u} <= {after})"
            parts.append(f"GRAPH ?{u} {{ ?x :{random.choice('pm')} {value} }}{rest}")
            finals.append("true" if shared else f'({after} <= "@"^^xsd:dateTime)')
        inner = " UNION ".join(f"{{ {p.removesuffix(shared)} }}" for p in parts)
        if present:
            first, second = (f"EXISTS {{ {part} }}" for part in parts)
            text = f"FILTER EXISTS {{ {inner}{shared} }}"
            self.plain[text] = f"FILTER({first} || {second})"
            return Clause(text, (), f"{first} || {finals[0]}", "")
        text = f"FILTER NOT EXISTS {{ {inner}{shared} }}"
        self.plain[text] = " ".join(f"FILTER NOT EXISTS {{ {part} }}" for part in parts)
        return Clause(text, (), " && ".join(finals))


def make(random: Random) -> tuple[str, str]:
    """A query, and what is asked of rdflib."""
    clauses = _Clauses()
    text, final = make_text(random, make=clauses)
    for mine, plain in clauses.plain.items():
        final = final.replace(mine, plain)
    return text, final


def check(seed: int) -> None:
    """One random query over three contents of its tables."""
    with TemporaryDirectory() as folder:
        told = run_seed(seed, Path(folder, "p"), make)
    for what in told:
        event(what)


@given(SEEDS)
@budget(0.05)
def test_unions_beside_solutions_equal_rdflib(seed: int) -> None:
    check(seed)
