"""Random cases: mappings whose subjects are no keys, with NULLs, templates that collide, constants,
several maps of one predicate; hierarchies; queries over one and several times."""

import random
import re
from dataclasses import replace

from tests.sparql_counts.case import Atom, Branch, Case, Map, Query
from tests.sparql_counts.random_tables import (
    COLUMNS,
    RELATION_COLUMNS,
    STREAM_COLUMNS,
    Taste,
    make_table,
    random_rows,
)

GRAPH = "g"
TASTE = Taste()
CONSTANTS = ("1.5", "true", '"2020-01-01"^^xsd:date')
AXIOMS = (
    ":A rdfs:subClassOf :D .",
    ":B rdfs:subClassOf :D .",
    ":C rdfs:subClassOf :D .",
    ":B rdfs:subClassOf :A .",
    ":D rdfs:subClassOf :C .",
    ":P rdfs:subPropertyOf :R .",
    ":Q rdfs:subPropertyOf :R .",
    ":P rdfs:subPropertyOf :Q .",
    ":P owl:inverseOf :Q .",
    ":R owl:inverseOf :R .",
    ":P rdfs:domain :A .",
    ":P rdfs:range :B .",
    ":Q rdfs:domain :B .",
    ":R rdfs:range :A .",
    ":v rdfs:domain :A .",
    ":z rdfs:subPropertyOf :v .",
    ":v rdfs:domain :C .",
    ":d rdfs:domain :B .",
    ":d rdfs:subPropertyOf :v .",
)
FACTS = (":1 a :A .", ":1 a :B .", ":1 :P :2 .", ":2 :v 1 .", ":3 :Q :1 .", ":1 :d true .")


def random_case(seed: int, taste: Taste = TASTE) -> Case:
    """The case of a seed; its rows are one of many contents (`random_rows`)."""
    draw = random.Random(seed)
    while True:
        tables = tuple(make_table(draw, name, taste) for name in COLUMNS)
        maps = tuple(_make_map(draw, taste) for _ in range(draw.choice((2, 3, 3, 4, 5))))
        maps = tuple(_refer(draw, made, maps) for made in maps)
        axioms = tuple(a for a in AXIOMS if draw.random() < 0.2)
        facts = tuple(f for f in FACTS if draw.random() < 0.08)
        words = _Vocabulary(maps, axioms, facts, "")
        if words.always if taste.static else words.timed:
            break
    case = Case(tables, maps, _make_query(draw, words, taste), {}, axioms, facts, f"seed {seed}")
    return replace(case, rows=random_rows(seed, case))


def random_query(seed: int, case: Case, taste: Taste = TASTE) -> Query:
    """Another query over the mappings of a case."""
    draw = random.Random(seed)
    words = _Vocabulary(case.maps, case.axioms, case.facts, GRAPH)
    if draw.random() < 0.5 or not (words.always if taste.static else words.timed):
        words = _Vocabulary(case.maps, case.axioms, case.facts, "")
    return _make_query(draw, words, taste)


def _make_map(draw: random.Random, taste: Taste) -> Map:
    name = draw.choice("rw") if taste.static else draw.choice("sssuurrw")
    first, number, text, other = COLUMNS[name]
    source = name
    if not taste.keyed and draw.random() < 0.4:
        source = draw.choice(_views(name, taste))
    iris = (
        *(f"http://e/{{{first}}}",) * 8,
        *(f"http://e/{{{number}}}",) * 5,
        *(f"http://g/{{{first}}}/{{{text}}}",) * 3,
        *(f"http://h/{{{text}}}",) * 3,
        *(f"http://c/{{{first}}}{{{number}}}",) * (draw.random() < 0.1),
        *(f"http://e/{{{text}}}",) * (5 if taste.mixed else 0),
        *(f"http://e/{{{other}}}",) * (draw.random() < 0.1 and not taste.plain),
        *(f"http://g/{{{first}}}/{{{other}}}",) * (draw.random() < 0.1 and not taste.plain),
    )
    blank = draw.choice((f"b{{{first}}}", f"b{{{number}}}", f"{{{first}}}-{{{text}}}"))
    blank = f'rr:template "{blank}" ; rr:termType rr:BlankNode'
    if taste.keyed:
        subject = f'rr:template "http://e/{{{first}}}"'
    elif draw.random() < 0.07:
        subject = "rr:constant :1"
    elif draw.random() < 0.05 and not taste.plain:
        subject = blank
    else:
        subject = f'rr:template "{draw.choice(iris)}"'
    objects = []
    for _ in range(draw.choice((0, 1, 1, 2, 3))):
        match draw.randrange(6 if taste.plain else 8):
            case 0 | 1:
                objects.append((draw.choice("vz"), f'rr:column "{draw.choice((first, number))}"'))
            case 2:
                column = number if draw.random() < 0.1 else text  # terms that differ in kind alone
                objects.append(("w", f'rr:column "{column}"'))
            case 6:
                name = draw.choice("dddvw")
                objects.append((name, f'rr:column "{other}"'))
            case 7 if draw.random() < 0.3:
                objects.append((draw.choice("PQR"), blank))
            case 7 if draw.random() < 0.3:
                objects.append(("w", f'rr:column "{text}" ; rr:language "en"'))
            case 3 if draw.random() < 0.1 and not taste.plain:
                objects.append(("v", f"rr:constant {draw.choice((1, 2.5))}"))
            case 3 if draw.random() < 0.3:
                objects.append((draw.choice("PQR"), "rr:constant :1"))
            case _:
                objects.append((draw.choice("PQR"), f'rr:template "{draw.choice(iris)}"'))
    classes = tuple(draw.sample("ABCD", draw.choice((0, 1, 1, 2))))
    if not objects and not classes:
        classes = (draw.choice("ABCD"),)
    graph = GRAPH if draw.random() < 0.08 else ""
    return Map(source, subject, classes, tuple(dict.fromkeys(objects)), graph)


def _refer(draw: random.Random, made: Map, maps: tuple[Map, ...]) -> Map:
    """The map, now and then with the subjects of a static one as objects, joined by columns."""
    parents = [i for i, m in enumerate(maps) if m.source in RELATION_COLUMNS and m is not made]
    if not parents or made.source not in COLUMNS or draw.random() > 0.2:
        return made
    number = draw.choice(parents)
    child, there = COLUMNS[made.source][1], COLUMNS[maps[number].source][0]
    join = f'rr:joinCondition [ rr:child "{child}" ; rr:parent "{there}" ]'
    reference = (draw.choice("PQR"), f"rr:parentTriplesMap <#M{number}> ; {join}")
    return replace(made, objects=(*made.objects, reference))


def _views(name: str, taste: Taste) -> tuple[str, ...]:
    """SQL over a table with the same columns: filters that overlap, a join, a constant."""
    first, number, text, last = COLUMNS[name]
    more = "" if taste.plain else f", {last}"
    columns = f"{first}, {number}, {text}{more}"
    plain = (
        f"SELECT * FROM {name} WHERE {number} > 1",
        f"SELECT * FROM {name} WHERE {number} < 3",
        f"SELECT {columns} FROM {name} WHERE {number} = 1 OR {number} = 2",
        f"SELECT {columns} FROM {name} WHERE {text} = 'x'",
        f"SELECT {first}, {number}, 'x' AS {text}{more} FROM {name}",
        f"SELECT {number} AS {first}, {first} AS {number}, {text}{more} FROM {name}",
        f"SELECT DISTINCT {columns} FROM {name}",
        f"SELECT {columns} FROM {name} UNION ALL SELECT {columns} FROM {name} WHERE {number} > 0",
    )
    if name == "w":
        return plain
    other = "w" if name == "r" else "r"
    there, value, word, _ = COLUMNS[other]
    selected = f"{name}.{first}, {other}.{value} AS {number}, {other}.{word} AS {text}"
    selected += "" if taste.plain else f", {name}.{last}"
    joined = f"{name} JOIN {other} ON {name}.{number} = {other}.{there}"
    return (*plain, f"SELECT {selected} FROM {joined}")


class _Vocabulary:
    """Which names the mappings make in a graph; `timed`: those that no static relation makes."""

    def __init__(
        self,
        maps: tuple[Map, ...],
        axioms: tuple[str, ...],
        facts: tuple[str, ...],
        graph: str,
    ) -> None:
        self.graphs = (graph,) if graph else ()
        static, timed = set[str](), set[str]()
        for made in (m for m in maps if m.graph == graph):
            words = {f"a {c}" for c in made.classes} | {p for p, _ in made.objects}
            streams = made.source in STREAM_COLUMNS or re.search(r"FROM [su]\b", made.source)
            (timed if streams else static).update(words)
        for fact in facts:
            static |= {f"a {w}" if w in "ABCD" else w for w in fact.replace(":", "").split()}
        timed, static = _close(timed, axioms), _close(static, axioms)
        self.all = sorted((timed | static) & _NAMES)
        self.timed = sorted((timed - static) & _NAMES)
        self.static = sorted(static & _NAMES)
        self.always = sorted((static - timed) & _NAMES)
        """Outside GRAPH, where what streams make counts only if it comes once."""


_NAMES = {"a A", "a B", "a C", "a D", *"PQRvwzd"}


def _close(names: set[str], axioms: tuple[str, ...]) -> set[str]:
    names = set(names)
    for _ in AXIOMS:
        for axiom in axioms:
            left, relation, right = _parse(axiom)
            match relation:
                case "subClassOf" if f"a {left}" in names:
                    names.add(f"a {right}")
                case "subPropertyOf" if left in names:
                    names.add(right)
                case "inverseOf" if {left, right} & names:
                    names |= {left, right}
                case "domain" | "range" if left in names:
                    names.add(f"a {right}")
                case _:
                    pass
    return names


def _parse(axiom: str) -> tuple[str, str, str]:
    left, relation, right, _ = axiom.split()
    return left[1:], relation.partition(":")[2], right[1:]


def _make_query(draw: random.Random, words: _Vocabulary, taste: Taste) -> Query:
    while True:
        made = _try_query(draw, words, taste)
        if made is not None:
            return made


def _try_query(draw: random.Random, words: _Vocabulary, taste: Taste) -> Query | None:
    common = _make_atoms(draw, words, taste)
    branches = [_make_branch(draw, common, taste)]
    if draw.random() < 0.2:
        other = replace(taste, static=True) if draw.random() < 0.2 else taste
        branches.append(_make_branch(draw, _make_atoms(draw, words, other), other))
    timed = [any(a.time for a in branch.atoms) for branch in branches]
    if not taste.static and not any(timed):
        return None
    mixed = len(set(timed)) > 1  # an answer that always holds has no number
    if mixed and taste.distinct is False:
        return None
    for branch in branches:
        if any(not set(a.predicates) <= set(words.always) for a in branch.atoms if not a.time):
            return None
    shared = set(_variables(branches[0]))
    for branch in branches[1:]:
        shared &= set(_variables(branch))
    names = sorted(shared)
    if not names:
        return None
    head = tuple(v for v in names if draw.random() < 0.6) or tuple(names[:1])
    if draw.random() < 0.3 and taste.distinct is not True and not taste.unbounded and not mixed:
        return replace(_make_aggregation(draw, names, tuple(branches)), graphs=words.graphs)
    distinct = draw.random() < 0.25 if taste.distinct is None else taste.distinct
    return Query(head, tuple(branches), distinct or mixed, graphs=words.graphs)


def _make_aggregation(draw: random.Random, names: list[str], branches: tuple[Branch, ...]) -> Query:
    group = tuple(v for v in names if draw.random() < 0.4)[:2]
    numbers = [v for v in ("?n", "?m") if v in names and v not in group]
    made = []
    for i in range(draw.choice((1, 1, 2))):
        if "?d" in names and "?d" not in group and draw.random() < 0.4:
            call = f"{draw.choice(('MIN', 'MAX', 'SUM', 'COUNT'))}(?d)"
        elif numbers and draw.random() < 0.6:
            function = draw.choice(("SUM", "SUM", "AVG", "MIN", "MAX", "COUNT"))
            call = f"{function}({draw.choice(numbers)})"
        elif draw.random() < 0.3:
            call = f"COUNT(DISTINCT {draw.choice(names)})"
        else:
            call = "COUNT(*)"
        made.append(f"({call} AS ?c{i})")
    return Query((*group, *made), branches, group=group)


def _make_atoms(draw: random.Random, words: _Vocabulary, taste: Taste) -> tuple[Atom, ...]:
    often = draw.random() < 0.7  # patterns of streams in every GRAPH
    times = ("",) if taste.static else draw.choice((("t1",), ("t1",), ("t1", "t2"), ("t1", "")))
    if taste.unbounded:
        times = ("t1", "t2")
    atoms = []
    for time in times:
        subject = draw.choice(("?x", "?x", "?x", "?y"))
        for i in range(draw.choice((1, 1, 2, 3) if len(times) == 1 else (1, 1, 2))):
            known = words.always if not time else words.timed if often and i == 0 else words.all
            if not known:
                continue
            name = draw.choice(known)
            at = subject if draw.random() < 0.85 else draw.choice(("?y", "?z", "<http://e/1>"))
            names = [name]
            if draw.random() < 0.08:
                like = [w for w in known if _sort(w) == _sort(name) and w != name]
                names += draw.sample(like, min(1, len(like)))
            atoms.append(Atom(time, at, tuple(names), _make_object(draw, name)))
    return tuple(dict.fromkeys(atoms))


def _sort(name: str) -> str:
    return "class" if name[0] == "a" else "object" if name in "PQR" else name


def _make_object(draw: random.Random, name: str) -> str:
    match _sort(name):
        case "class":
            return ""
        case "object":
            return draw.choice(("?y", "?y", "?z", "?x", "<http://e/1>"))
        case "w":
            return draw.choice(("?a", "?a", "?b", '"x"'))
        case "d":
            return draw.choice(("?d", "?d", "?d", "?e", "?n", *CONSTANTS))
        case _:
            return draw.choice(("?n", "?n", "?n", "?m", "1"))


def _make_branch(draw: random.Random, atoms: tuple[Atom, ...], taste: Taste) -> Branch:
    names = _variables(Branch(atoms))
    lines = []
    if "?n" in names and draw.random() < 0.3:
        lines.append(
            draw.choice(
                (
                    "FILTER(?n > 1)",
                    "FILTER(?n != 1)",
                    "FILTER(?n > 0 || ?n < 2)",
                    "FILTER(?n IN (1, 2))",
                    "VALUES ?n { 1 2 1 }",
                )
            )
        )
    if {"?n", "?m"} <= set(names) and draw.random() < 0.4:
        lines.append(draw.choice(("FILTER(?n = ?m)", "FILTER(?n != ?m)", "FILTER(?n < ?m)")))
    if "?x" in names and draw.random() < 0.08:
        lines.append("FILTER(?x != <http://e/1>)")
    if {"?x", "?y"} <= set(names) and draw.random() < 0.05:
        lines.append("FILTER(?x != ?y)")
    if {"?d", "?e"} <= set(names) and draw.random() < 0.4:
        lines.append(draw.choice(("FILTER(?d = ?e)", "FILTER(?d != ?e)", "FILTER(?d < ?e)")))
    times = {a.time for a in atoms} - {""}
    if taste.unbounded:
        lines.append("FILTER(?t1 < ?t2)")
    elif len(times) == 2:
        lines.append(
            draw.choice(
                (
                    "FILTER(?t1 < ?t2)",
                    "FILTER(?t1 <= ?t2)",
                    "FILTER(?t1 != ?t2)",
                    'FILTER(?t2 > ?t1 && ?t2 - ?t1 <= "PT5M"^^xsd:dayTimeDuration)',
                    'FILTER(?t2 = ?t1 + "PT5M"^^xsd:dayTimeDuration)',
                )
            )
        )
    elif times and draw.random() < 0.1:
        lines.append('FILTER(?t1 <= "2020-01-01T00:05:00"^^xsd:dateTime)')
    return Branch(atoms, tuple(lines))


def _variables(branch: Branch) -> list[str]:
    return list(
        dict.fromkeys(t for a in branch.atoms for t in (a.subject, a.object) if t.startswith("?"))
    )
