"""Random cases of nodes that have their time in their names, or most of which do, and queries that
say nothing of GRAPH: what is said of one node, beside what is said, or not, of another one."""

import random
from dataclasses import replace

from tests.sparql_counts.case import Atom, Branch, Case, Map, Query
from tests.sparql_counts.random_tables import COLUMNS, Taste, make_table, random_rows
from tests.sparql_counts.write_case import write_query

_TASTE = Taste(plain=True)
_AXIOMS = (
    ":A rdfs:subClassOf :B .",
    ":P rdfs:subPropertyOf :Q .",
    ":P rdfs:range :A .",
    ":Q owl:inverseOf :P .",
    ":v rdfs:domain :A .",
)


def random_dated(seed: int) -> Case:
    """The case of a seed; its query is another matter (`make_dated`)."""
    draw = random.Random(seed)
    tables = tuple(make_table(draw, name, _TASTE) for name in COLUMNS)
    tables = tuple(
        replace(t, lasting=t.stream and bool(t.keys) and draw.random() < 0.6) for t in tables
    )
    tables = tuple(
        replace(t, unit="1 minute") if t.name == "u" and draw.random() < 0.3 else t for t in tables
    )
    maps = tuple(_make_map(draw, n == 0) for n in range(draw.choice((1, 2, 2, 3))))
    axioms = tuple(a for a in _AXIOMS if draw.random() < 0.15)
    case = Case(tables, maps, Query(("?x",), ()), {}, axioms, (), f"seed {seed}")
    return replace(case, rows=random_rows(seed, case))


def _make_map(draw: random.Random, streamed: bool) -> Map:
    name = draw.choice("ssu" if streamed else "sssuur")
    first, number, text, _ = COLUMNS[name]
    iris = [f"http://e/{{{first}}}"]
    if name in "su":
        iris += [f"http://o/{{{first}}}/{{ts}}"] * 4
        iris += [f"http://o/{name}/{{{first}}}-{{{text}}}-{{ts}}", f"http://o/{{ts}}/{{{first}}}"]
    subject = f'rr:template "{draw.choice(iris)}"'
    objects = [
        draw.choice(
            (
                ("v", f'rr:column "{number}"'),
                ("w", f'rr:column "{text}"'),
                ("P", f'rr:template "http://e/{{{number}}}"'),
                ("P", f'rr:template "{draw.choice(iris)}"'),
                ("Q", f'rr:template "http://e/{{{first}}}"'),
            )
        )
        for _ in range(draw.choice((1, 2, 2)))
    ]
    if name in "su" and draw.random() < 0.9:
        objects.append(("t", 'rr:column "ts"'))
    classes = tuple(draw.sample("AB", draw.choice((0, 1))))
    return Map(name, subject, classes, tuple(dict.fromkeys(objects)))


def _say(draw: random.Random, case: Case, subject: str, number: str, moment: str) -> list[Atom]:
    """What is said of a node."""
    made = draw.choice([m for m in case.maps if m.source in "su"] or case.maps)
    words = [f"a {c}" for c in made.classes] + [p for p, _ in made.objects if p != "t"]
    atoms = []
    for word in draw.sample(words, min(len(words), draw.choice((1, 2, 2)))):
        match word[0]:
            case "a":
                value = ""
            case "v":
                value = draw.choice((number, number, "?n"))
            case "w":
                value = draw.choice(("?a", "?a", '"x"'))
            case _:
                value = draw.choice(("?z", "?z", "?y", "?x", "<http://e/1>"))
        atoms.append(Atom("", subject, (word,), value))
    if draw.random() < 0.9 and any(p == "t" for p, _ in made.objects):
        atoms.append(Atom("", subject, ("t",), moment))
    draw.shuffle(atoms)
    return atoms


def _write(atoms: list[Atom]) -> str:
    text = write_query(Query(("*",), (Branch(tuple(dict.fromkeys(atoms))),)))
    return " ".join(text[text.index("{") + 1 : text.rindex("}")].split())


def make_dated(draw: random.Random, case: Case) -> tuple[Query, str] | None:
    """A query, and the condition under which an answer of it is final, with @ for a time."""
    base = _say(draw, case, "?x", "?n", "?r")
    other = _say(draw, case, draw.choice(("?y", "?y", "?y", "?x")), "?m", "?q")
    own = {t for a in base for t in (a.subject, a.object) if t.startswith("?")}
    shown = [v for v in sorted(own) if v != "?r" and draw.random() < 0.7]
    if not shown or not base or not other:
        return None
    dated = any(a.predicates == ("t",) for a in base) and any(a.object == "?q" for a in other)
    kind = draw.choice(("NOT EXISTS", "NOT EXISTS", "EXISTS", "OPTIONAL", "UNBOUND", "MINUS", ""))
    body, final = _write(other), ""
    minutes = draw.choice((0, 5, 10))
    same = any("?x" in (a.subject, a.object) for a in other)  # its time is that of ?x
    if dated and kind != "MINUS" and not same and not any(a.object == "?y" for a in base):
        after = f'?r + "PT{minutes}M"^^xsd:dayTimeDuration'
        body += draw.choice(("", " FILTER(?q >= ?r)", " FILTER(?q > ?r)"))
        body += f" FILTER(?q <= {after})"
        final = "" if kind in ("EXISTS", "") else f'{after} <= "@"^^xsd:dateTime'
    new = [t for a in other for t in (a.subject, a.object) if t[:1] == "?" and t not in own]
    new = [t for t in new if t != "?q"]
    match kind:
        case "OPTIONAL" | "UNBOUND":
            if not new:
                return None
            line = f"OPTIONAL {{ {body} }}"
            if kind == "UNBOUND":
                line += f" FILTER(!BOUND({new[0]}))"
            else:
                shown.append(new[0])
                final = f"BOUND({new[0]}) || {final}" if final else ""
        case "":
            line = body
        case "MINUS":
            line = f"MINUS {{ {body} }}"
        case _:
            line = f"FILTER {kind} {{ {body} }}"
    branch = Branch(tuple(dict.fromkeys(base)), (line,))
    return Query(tuple(shown), (branch,), draw.random() < 0.3), final
