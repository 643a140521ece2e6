"""Random cases that compare expressions of two rows, and times of rows with values."""

from random import Random

from tests.sparql_counts.case import Atom, Branch, Case, Cell, Map, Query, Row, Table

_NUMBERS = (("n", "int"), ("d", "decimal(5,1)"), ("f", "double"))
_COLUMNS = (("id", "int"), *_NUMBERS, ("a", "string"), ("due", "timestamp"))
_DOUBLES = ("0.1", "0.2", "0.30000000000000004", "0.3", "1e16", "-0.7", "2.5", "5.1")
_STEPS = 4
_BETWEEN = "GRAPH ?t3 { ?x a :A } FILTER(?t3 > ?t1 && ?t3 < ?t2)"


def make_case(random: Random) -> Case:
    """A stream of readings with what is due when; two of them, whose values are compared."""
    table = Table("s", _COLUMNS, stream=True, keys=(("id",),), ranges=(("id", 1, 3),))
    objects = tuple((name, f'rr:column "{name}"') for name in ("n", "d", "f", "a"))
    # rdflib reads `:t` as a number of seconds, as it does times
    maps = (Map("s", 'rr:template "http://e/{id}"', ("A",), (*objects, ("t", 'rr:column "due"'))),)
    return Case((table,), maps, _make_query(random), {"s": _make_rows(random)})


def _make_rows(random: Random) -> tuple[Row, ...]:
    made: list[Row] = []
    for step in range(_STEPS):
        for name in random.sample((1, 2, 3), k=random.randint(0, 2)):
            cells: list[Cell] = [
                random.randint(-3, 6),
                str(random.randint(-40, 60) / 10),
                random.choice(_DOUBLES),
                random.choice(("x", "X", "xy")),
                f"2020-01-01 00:{random.randrange(0, 5 * _STEPS):02}:00",
            ]
            made.append((step, name, *(None if random.random() < 0.15 else c for c in cells)))
    return tuple(made)


def _make_query(random: Random) -> Query:
    atoms = [Atom("t1", "?x", ("a A",))]
    if random.random() < 0.35:  # a time beside a value
        op = random.choice(("<", "<=", "=", "!=", ">=", ">"))
        sides = random.choice((("?t1", "?due"), ("?due", "?t1")))
        atoms.append(Atom("t1", "?x", ("t",), "?due"))
        lines = [f"FILTER({sides[0]} {op} {sides[1]})"]
        if random.random() < 0.3:
            atoms.append(Atom("t1", "?x", ("n",), "?n"))
            lines = [f"FILTER({sides[0]} {op} {sides[1]} || ?n > 2)"]
        if random.random() < 0.5:
            atoms.append(Atom("t2", "?y", ("a A",)))
            lines += ["FILTER(?t1 < ?t2)"]
            if random.random() < 0.5:
                lines += [f"FILTER(?t2 {op} ?due)"]
            return Query(("?x", "?y"), (Branch(tuple(atoms), tuple(lines)),))
        return Query(("?x",), (Branch(tuple(atoms), tuple(lines)),))
    atoms.append(Atom("t2", "?y", ("a A",)))
    lines = [random.choice(("FILTER(?t1 < ?t2)", "FILTER(?t1 <= ?t2)"))]
    if before := random.random() < 0.25:  # the same one, and nothing between
        atoms[1] = Atom("t2", "?x", ("a A",))
        lines = [f"FILTER(?t1 < ?t2) FILTER NOT EXISTS {{ {_BETWEEN} }}"]
    if not before and random.random() < 0.9:
        lines += ['FILTER(?t2 <= ?t1 + "PT10M"^^xsd:dayTimeDuration)']
    used: dict[str, tuple[str, str]] = {}
    lines += [f"FILTER({_compare(random, used)})" for _ in range(random.choice((1, 1, 2)))]
    for variable, (subject, name) in used.items():
        time, node = ("t1", "?x") if subject == "?x" else ("t2", "?x" if before else "?y")
        atoms.append(Atom(time, node, (name,), variable))
    head = ("?x",) if before else ("?x", "?y")
    return Query(head, (Branch(tuple(atoms), tuple(lines)),), distinct=random.random() < 0.3)


def _compare(random: Random, used: dict[str, tuple[str, str]]) -> str:
    def value(subject: str, names: tuple[str, ...]) -> str:
        name = random.choice(names)
        variable = f"?{name}{subject[1:]}"
        used[variable] = (subject, name)
        return variable

    op = random.choice(("<", "<=", "=", "!=", ">=", ">"))
    match random.randrange(9):
        case 0:
            left, right = (f"UCASE({value(s, ('a',))})" for s in ("?x", "?y"))
            return f"{left} {op} {right}"
        case 1:
            exact = ("n", "d")
            left = f"{value('?x', exact)} * 2 - {value('?y', exact)}"
            return f"{left} {op} {random.choice(('5', '-1.5', value('?y', exact)))}"
        case 2:
            left = f"2 - {value('?y', ('n',))} + {value('?x', ('n', 'd'))} * 3"
            return f"!({left} {op} {value('?y', ('d',))} * 2)"
        case 3:
            doubles = ("f",)
            return f"{value('?x', doubles)} * 1e0 + 0.1e0 {op} {value('?y', doubles)} * 1.5e0 - 5e0"
        case 4:
            left, right = (value(s, ("n", "d", "f")) for s in ("?x", "?y"))
            return f"{_sum_up(left, '* 1.8', '+ 32')} {op} {right}"
        case 5 | 6:  # sums of doubles of both rows, as they are rounded
            left = f"{value('?x', ('f',))} - {value('?y', ('f',))}"
            sums = f"{value('?x', ('f',))} + {value('?y', ('f',))}"
            right = random.choice(("0.1e0", "-0.2e0", value("?y", ("f",)), f"({sums})"))
            return f"{left} {op} {right}"
        case 7:
            left = _sum_up(value("?x", ("f", "f", "d")), random.choice(("+ 0.1", "- 0.2", "+ 5")))
            return f"{left} {op} {value('?y', ('f', 'd', 'n'))}"
        case _:
            right = _sum_up(value("?y", ("n", "d", "f")), "* 2", "+ 1")
            return f"ABS({value('?x', ('n', 'd'))}) {op} {right}"


def _sum_up(variable: str, *steps: str) -> str:
    """A variable with what is added to it, or it is multiplied by; beside doubles as doubles,
    which rdflib adds up as decimals else."""
    double = "e0" if variable.startswith("?f") else ""
    return " ".join((variable, *(f"{step}{double}" for step in steps)))
