"""Groups of windows beside rows, groups, the latest of keys and static patterns, with what is
computed, filtered and grouped of them: what holds at every time is what rdflib finds with that time
as NOW(), replayed in one range and in several, live, as changes and as snapshots, within the bound.
"""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_joined_solutions import WINDOW, draw_latest, run_seed

_DURATION = '"PT{m}M"^^xsd:dayTimeDuration'
_LONG = _DURATION.replace("{m}", "2{m}")
_FLOOR = f"ow:floor(NOW(), {_DURATION})"
_OTHERS = (
    f"FILTER(?t{{n}} >= {_FLOOR})",
    f"FILTER(?t{{n}} > {_FLOOR} - {_DURATION} && ?t{{n}} <= {_FLOOR})",
    f"FILTER(?t{{n}} > NOW() - {_LONG} && ?t{{n}} <= NOW() - {_DURATION})",
)
"""Windows on a grid, and of rows that are shown later."""


def _draw_window(random: Random, number: int) -> str:
    minutes = random.choice([5, 10, 12, 20])
    if random.random() < 0.2:
        return random.choice(_OTHERS).format(n=number, m=random.choice([5, 10]))
    return WINDOW.format(n=number, m=minutes)


def _draw_group(random: Random, number: int) -> tuple[str, list[str], str]:
    """Groups of a window, the keys that they bind, and the number that each has."""
    w, a, p = f"?w{number}", f"?a{number}", random.choice("nmp")
    calls = ["COUNT(*)", *(f"{f}({w})" for f in ("COUNT", "SUM", "MAX", "MIN", "AVG"))]
    call = random.choice([*calls, f"COUNT(DISTINCT {w})", f"SUM({w} + 1)"])
    window = _draw_window(random, number)
    rows = f"GRAPH ?t{number} {{ ?x :{p} {w} }} {window}"
    shape = random.random()
    if shape < 0.15:  # over nothing, COUNT alone has one value in all engines
        rows = rows.replace("?x", f"?y{number}")  # rdflib puts values of ?x in
        return f"{{ SELECT (COUNT({w}) AS {a}) {{ {rows} }} }}", [], a
    if shape < 0.25:
        return f"{{ SELECT DISTINCT ?x ({w} AS {a}) {{ {rows} }} }}", ["?x"], a
    having = random.choice(["", "", "", f" HAVING ({call} > 1)", " HAVING (COUNT(*) > 1)"])
    if shape < 0.4:
        y = f"?y{number}"
        return (
            f"{{ SELECT {y} ({call} AS {a}) {{ {rows.replace('?x', y)} }} GROUP BY {y}{having} }}",
            [],
            a,
        )
    return f"{{ SELECT ?x ({call} AS {a}) {{ {rows} }} GROUP BY ?x{having} }}", ["?x"], a


def _draw_parts(random: Random) -> tuple[list[str], list[str], list[str], list[str], bool]:
    """Parts; what is behind them; numbers that have values, those that may have none, and
    whether ?x is bound."""
    parts, last = list[str](), list[str]()
    sure, loose = list[str](), list[str]()
    text, keys, number = _draw_group(random, 1)
    parts.append(text)
    sure.append(number)
    keyed = bool(keys)
    if random.random() < 0.6:
        p = random.choice("nmp")
        parts.append(f"GRAPH ?t0 {{ ?x :{p} ?v0 }} {_draw_window(random, 0)}")
        sure.append("?v0")
        keyed = True
    if random.random() < 0.3:
        text, binds = draw_latest(random, 2)
        if binds[0] == "?x" and "?u " not in text:
            parts.append(text)
            sure.append(binds[1])
            keyed = True
    if random.random() < 0.4 and keyed:
        parts.append("?x :f ?f .")
        sure.append("?f")
    for n in (3, 4):
        if random.random() > 0.4:
            continue
        text, keys, number = _draw_group(random, n)
        how = random.random() if keyed else 1
        said = random.choice(["", f" FILTER({number} >= {random.choice(sure)})"])
        said = said if keys or random.random() < 0.5 else ""
        said = random.choice([said, said, f" FILTER({number} > 0)"])
        if how < 0.35:
            last.append(f"OPTIONAL {{ {text}{said} }}")
            loose.append(number)
        elif how < 0.5 and keys:
            clause = random.choice(["FILTER EXISTS", "FILTER NOT EXISTS", "MINUS"])
            said = "" if clause == "MINUS" or not keys else said
            last.append(f"{clause} {{ {text}{said} }}")
        else:
            parts.append(text)
            sure.append(number)
            keyed = keyed or bool(keys)
    random.shuffle(parts)
    if keyed and random.random() < 0.25:
        said = random.choice(["", f" FILTER(?g > {random.choice(['1', sure[0]])})"])
        last.append(f"OPTIONAL {{ ?x :f ?g{said} }}")
        loose.append("?g")
    return parts, last, sure, loose, keyed


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    parts, last, sure, loose, keyed = _draw_parts(random)
    numbers = [*sure, *loose]
    one, other = random.choice(numbers), random.choice(numbers)
    value = random.choice([one, f"{one} + 1", f"{one} - {other}", f"COALESCE({one}, 7)"])
    if random.random() < 0.4:
        said = [f"{one} > {other}", f"{one} + 1 >= {random.choice(sure)}", f"{other} > 0"]
        said += [f"{one} = {other}", f"!BOUND({one}) || {other} < 2"]
        last.append(f"FILTER({random.choice(said)})")
    if random.random() < 0.3:
        last.append(f"BIND({value} AS ?b)")
        numbers.append("?b")
        if random.random() < 0.4:
            last.append("FILTER(?b < 4)")
    where = "\n  ".join((*parts, *last))
    if random.random() < 0.45:
        first = random.choice(sure)
        calls = ["COUNT(*)", f"COUNT({one})", f"SUM({first})", f"MAX({first} + 1)"]
        calls += [f"COUNT(DISTINCT {random.choice(sure)})", f"MIN({first}) + COUNT(*)"]
        chosen = random.sample(calls, k=2)
        by = random.choice(
            [k for k, there in (("?x", keyed), ("?f", "?f" in where)) if there] or [first]
        )
        having = random.choice(["", "", " HAVING (COUNT(*) > 1)"])
        head = f"{by} ({chosen[0]} AS ?c) ({chosen[1]} AS ?d)"
        text = f"{PREFIXES}SELECT {head} {{\n  {where}\n}}\nGROUP BY {by}{having}\n"
        return text, (by[1:], "c", "d")
    shown = list(dict.fromkeys([sure[0], *random.sample(numbers, k=min(2, len(numbers)))]))
    shown += ["?x"] if keyed and random.random() < 0.5 else []
    names = [v[1:] for v in shown]
    if random.random() < 0.4:
        shown.append(f"({value} AS ?e)")
        names.append("e")
    distinct = random.choice(["", "", "DISTINCT "])
    return f"{PREFIXES}SELECT {distinct}{' '.join(shown)} {{\n  {where}\n}}\n", tuple(names)


def run(seed: int, folder: Path) -> str:
    """What came of the query of a seed."""
    return run_seed(seed, folder, make_query)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run(seed, tmp_path / str(seed)) for seed in range(8))
    assert told["with answers"] > 1, told


@given(SEEDS)
@budget(0.1)
def test_composed_solutions_equal_rdflib(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder, "case")))
