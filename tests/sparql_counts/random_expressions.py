"""Random cases with expressions: BIND, FILTER, GROUP BY, and arguments of aggregates."""

from random import Random

from tests.sparql_counts.case import Atom, Branch, Case, Cell, Map, Query, Row, Table

_COLUMNS = (
    ("id", "int"),
    ("n", "int"),
    ("m", "int"),
    ("d", "decimal(5,1)"),
    ("a", "string"),
    ("k", "string"),
    ("w", "timestamp"),
)
_TEXTS = ("abc", "x", "Straße", "12", "-3", "", "aXb", "true")
_TIMES = ("2020-02-29 23:59:58.250", "1999-12-31 00:00:00", "2021-07-01 12:30:00")
_WHOLE, _DECIMAL, _TEXT, _TIME = ("n", "m"), ("d",), ("a", "k"), ("w",)


def make_case(random: Random) -> Case:
    """A stream whose rows are subjects, or not, with properties that rows may lack; and a query
    that computes with them."""
    keys: tuple[tuple[str, ...], ...] = random.choice([(("id",),), (("id",),), ()])
    table = Table("s", _COLUMNS, stream=True, keys=keys)
    objects = tuple((c, f'rr:column "{c}"') for c, _ in _COLUMNS[1:])
    maps = (Map("s", 'rr:template "http://e/{id}"', ("A",), objects),)
    used = random.sample([c for c, _ in _COLUMNS[1:]], k=random.randint(1, 3))
    return Case((table,), maps, make_query(random, used), {"s": make_rows(random, bool(keys))})


def make_rows(random: Random, keyed: bool) -> tuple[Row, ...]:
    """Rows of some steps, in order."""
    share = random.choice([0.0, 0.3])
    made: list[Row] = []
    for step in range(random.randint(1, 3)):
        names = [1, 2, 3] if keyed else [1, 2, 2, 3]
        for name in random.sample(names, k=random.randint(1, len(names))):
            cells: list[Cell] = [
                random.randint(-4, 7),
                random.randint(0, 3),
                str(random.randint(-40, 99) / 10),
                random.choice(_TEXTS),
                random.choice(("x", "abc")),
                random.choice(_TIMES),
            ]
            made.append((step, name, *(None if random.random() < share else c for c in cells)))
    return tuple(made)


def make_query(random: Random, used: list[str]) -> Query:
    """A query over some properties of one subject."""
    atoms = tuple(Atom("t", "?x", (c,), f"?{c}") for c in used)
    lines = []
    for _ in range(random.choice([0, 0, 1])):
        lines.append(f"FILTER({make_expression(random, used, 'boolean', 3)})")
    kind = random.choice(["number", "number", "text", "boolean"])
    value = make_expression(random, used, kind, 3)
    match random.randrange(5):
        case 0 | 1:
            lines.insert(0, f"BIND({value} AS ?e)")
            if random.random() < 0.3:
                lines.append("FILTER(BOUND(?e))")
            return Query(("?x", "?e"), (Branch(atoms, tuple(lines)),))
        case 2:
            lines.insert(0, f"BIND({value} AS ?e)")
            # rdflib loses a solution that binds nothing, so that another variable is selected too
            head = ("?e", f"?{used[0]}")
            return Query(head, (Branch(atoms, tuple(lines)),), distinct=True)
        case 3:
            head = ("?e", "(COUNT(*) AS ?c)")
            return Query(head, (Branch(atoms, tuple(lines)),), group=(f"({value} AS ?e)",))
        case _:
            number = make_expression(random, used, "number", 2)
            call = random.choice(["SUM", "MIN", "MAX", "COUNT"])
            if random.random() < 0.5:
                lines.insert(0, f"BIND({number} AS ?v)")
                number = "?v"
            head = ("?x", f"({call}({number}) AS ?c)")
            return Query(head, (Branch(atoms, tuple(lines)),), group=("?x",))


def make_expression(random: Random, used: list[str], kind: str, depth: int) -> str:
    """An expression of a kind."""

    def inner(of: str) -> str:
        return make_expression(random, used, of, depth - 1)

    match kind:
        case "number":
            return _number(random, used, depth, inner)
        case "text":
            return _text(random, used, depth, inner)
        case _:
            return _boolean(random, used, depth, inner)


def _number(random: Random, used: list[str], depth: int, inner) -> str:  # type: ignore[no-untyped-def]
    leaves = [f"?{c}" for c in used if c in (*_WHOLE, *_DECIMAL)] + ["2", "1.5", "-1", "0"]
    if depth == 0 or random.random() < 0.2:
        return random.choice(leaves)
    times = [f"?{c}" for c in used if c in _TIME]
    match random.randrange(11):
        case 0 | 1 | 2:
            return f"({inner('number')} {random.choice('+-*')} {inner('number')})"
        case 3:
            return f"({inner('number')} / {random.choice(['2', '4', '0.5', '10', '-5'])})"
        case 4:
            return f"{random.choice(['ABS', 'CEIL', 'FLOOR', 'ROUND'])}({inner('number')})"
        case 5:
            return f"IF({inner('boolean')}, {inner('number')} + 0.0, {inner('number')} + 0.0)"
        case 6:
            return f"COALESCE({inner('number')} + 0.0, {inner('number')} + 0.0)"
        case 7:
            return f"STRLEN({inner('text')})"
        case 8:
            texts = [f"?{c}" for c in used if c in _TEXT]
            return f"xsd:integer({random.choice(texts)})" if texts else random.choice(leaves)
        case 9 if times:
            name = random.choice(["YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS"])
            return f"{name}({random.choice(times)})"
        case _:
            return f"(- {inner('number')})"


def _text(random: Random, used: list[str], depth: int, inner) -> str:  # type: ignore[no-untyped-def]
    leaves = [f"?{c}" for c in used if c in _TEXT] + ['"a"', '"Üb"']
    if depth == 0 or random.random() < 0.25:
        return random.choice(leaves)
    match random.randrange(7):
        case 0:
            return f"{random.choice(['UCASE', 'LCASE'])}({inner('text')})"
        case 1:
            return f"CONCAT({inner('text')}, {inner('text')})"
        case 2:
            return f"SUBSTR({inner('text')}, {random.randint(1, 3)})"
        case 3:
            return f"SUBSTR({inner('text')}, {random.randint(1, 2)}, {random.randint(0, 2)})"
        case 4:
            return f'REPLACE({inner("text")}, "{random.choice(["a", "[0-9]+", "b|x"])}", "z")'
        case 5:
            whole = [f"?{c}" for c in used if c in _WHOLE] or ["7"]
            return f"STR({random.choice(whole)})"
        case _:
            return f"IF({inner('boolean')}, {inner('text')}, {inner('text')})"


def _boolean(random: Random, used: list[str], depth: int, inner) -> str:  # type: ignore[no-untyped-def]
    if depth == 0:
        return f"({inner_leaf(random, used)} > 1)"
    match random.randrange(10):
        case 0 | 1:
            op = random.choice(["=", "!=", "<", "<=", ">", ">="])
            return f"({inner('number')} {op} {inner('number')})"
        case 2:
            return f"({inner('text')} {random.choice(['=', '!=', '<'])} {inner('text')})"
        case 3 | 4:
            return f"({inner('boolean')} {random.choice(['&&', '||'])} {inner('boolean')})"
        case 5:
            return f"(! {inner('boolean')})"
        case 6:
            name = random.choice(["CONTAINS", "STRSTARTS", "STRENDS"])
            return f'{name}({inner("text")}, "{random.choice(["a", "x", "b", ""])}")'
        case 7:
            flags = random.choice(["", ', "i"'])
            return f'REGEX({inner("text")}, "{random.choice(["^a", "b$", "[0-9]"])}"{flags})'
        case 8:
            return f"({inner('number')} + 1 > {inner('number')})"
        case _:
            return f"IF({inner('boolean')}, {inner('boolean')}, {inner('boolean')})"


def inner_leaf(random: Random, used: list[str]) -> str:
    """A number that is a variable, if there is one."""
    return random.choice([f"?{c}" for c in used if c in (*_WHOLE, *_DECIMAL)] or ["2"])
