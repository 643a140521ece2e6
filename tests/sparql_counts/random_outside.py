"""Random cases whose queries ask outside GRAPH for what streams make, beside GRAPH: subjects with
the timestamp in them, or with a key of the whole stream, or with neither; times that mappings bind.
"""

import random
from dataclasses import replace

from tests.sparql_counts.case import Atom, Branch, Case, Map, Query
from tests.sparql_counts.random_tables import COLUMNS, Taste, make_table, random_rows

_TASTE = Taste(plain=True)
_AXIOMS = (
    ":A rdfs:subClassOf :B .",
    ":P rdfs:subPropertyOf :Q .",
    ":P rdfs:range :A .",
    ":Q owl:inverseOf :P .",
    ":v rdfs:domain :A .",
)
_MOMENT = '"2020-01-01T00:07:00"^^xsd:dateTime'


def random_outside(seed: int) -> Case:
    """The case of a seed; its rows are one of many contents (`random_rows`)."""
    draw = random.Random(seed)
    tables = tuple(make_table(draw, name, _TASTE) for name in COLUMNS)
    tables = tuple(
        replace(t, lasting=t.stream and bool(t.keys) and draw.random() < 0.5) for t in tables
    )
    maps = tuple(_make_map(draw, n == 0) for n in range(draw.choice((1, 2, 2, 3))))
    axioms = tuple(a for a in _AXIOMS if draw.random() < 0.15)
    case = Case(tables, maps, random_question(seed, maps), {}, axioms, (), f"seed {seed}")
    return replace(case, rows=random_rows(seed, case))


def _make_map(draw: random.Random, streamed: bool) -> Map:
    name = draw.choice("ssu" if streamed else "sssuur")
    first, number, text, _ = COLUMNS[name]
    iris = [f"http://e/{{{first}}}", f"http://e/{{{first}}}", f"http://g/{{{first}}}/{{{text}}}"]
    if name in "su":
        iris += [f"http://o/{{{first}}}/{{ts}}"] * 3
    subject = f'rr:template "{draw.choice(iris)}"'
    objects = [
        draw.choice(
            (
                ("v", f'rr:column "{number}"'),
                ("w", f'rr:column "{text}"'),
                ("P", f'rr:template "http://e/{{{number}}}"'),
                ("Q", f'rr:template "http://e/{{{first}}}"'),
            )
        )
        for _ in range(draw.choice((1, 2, 2)))
    ]
    if name in "su" and draw.random() < 0.7:
        objects.append(("t", 'rr:column "ts"'))
    classes = tuple(draw.sample("AB", draw.choice((0, 1))))
    return Map(name, subject, classes, tuple(dict.fromkeys(objects)))


def random_question(seed: int, maps: tuple[Map, ...]) -> Query:
    """A query over maps, of one or two subjects, each outside GRAPH or in one."""
    draw = random.Random(seed)
    branches = [_make_branch(draw, maps)]
    if draw.random() < 0.15:
        branches.append(_make_branch(draw, maps))
    shared = [v for v in _variables(branches[0]) if all(v in _variables(b) for b in branches[1:])]
    shared = [v for v in shared if v not in ("?r", "?q")]  # rdflib has numbers there
    if not shared:
        return random_question(seed + 1_000_003, maps)
    head = tuple(v for v in shared if draw.random() < 0.6) or tuple(shared[:1])
    if draw.random() < 0.25:
        return Query(("(COUNT(*) AS ?c)",), tuple(branches))
    return Query(head, tuple(branches), draw.random() < 0.7)


def _make_branch(draw: random.Random, maps: tuple[Map, ...]) -> Branch:
    atoms: list[Atom] = []
    lines: list[str] = []
    for subject, number, moment in (("?x", "?n", "?r"), ("?y", "?m", "?q")):
        time = draw.choice(("", "", "", "t1"))
        made = draw.choice(maps if atoms else maps[:1])
        words = [f"a {c}" for c in made.classes] + [p for p, _ in made.objects]
        for word in draw.sample(words, min(len(words), draw.choice((1, 2, 2)))):
            match word[0]:
                case "a":
                    value = ""
                case "v":
                    value = draw.choice((number, number, "?n", "1"))
                case "w":
                    value = draw.choice(("?a", "?a", '"x"'))
                case "t":
                    value = moment
                case _:
                    value = draw.choice(("?z", "?y", "<http://e/1>"))
            atoms.append(Atom(time, subject, (word,), value))
        if draw.random() < 0.4:
            break
    there = {t for a in atoms for t in (a.object, f"?{a.time}")}
    times = [t for t in ("?r", "?q", "?t1") if t in there]
    if times and draw.random() < 0.5:
        op = draw.choice(("<", "<=", ">", ">=", "!="))
        lines.append(f"FILTER({draw.choice(times)} {op} {_MOMENT})")
    if len(times) > 1 and draw.random() < 0.8:
        first, second = draw.sample(times, 2)
        lines.append(
            draw.choice(
                (
                    f"FILTER({first} < {second})",
                    f"FILTER({first} = {second})",
                    f'FILTER({first} - {second} <= "PT5M"^^xsd:dayTimeDuration)',
                    f'FILTER({first} >= {second} + "PT5M"^^xsd:dayTimeDuration)',
                    f"FILTER({first} > {second} || {first} < {_MOMENT})",
                )
            )
        )
    return Branch(tuple(dict.fromkeys(atoms)), tuple(lines))


def _variables(branch: Branch) -> list[str]:
    found = dict.fromkeys(
        t for a in branch.atoms for t in (a.subject, a.object) if t.startswith("?")
    )
    return list(found)
