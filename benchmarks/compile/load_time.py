"""How long an ontology of 10,000 axioms takes to load, in every syntax, and what rdflib takes.

    python benchmarks/compile/load_time.py [AXIOMS]

The ontology is generated from a seed: a hierarchy of classes and properties, domains, ranges,
inverses, existentials, disjointness, and facts. rdflib only parses it; functional syntax and
OWL/XML it does not read.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rdflib import Graph

from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.syntax.map_axioms import Call, Part, map_axiom

E = "http://e/"
OWL = "http://www.w3.org/2002/07/owl#"


def generate(count: int, seed: int = 1) -> list[Call]:
    """So many axioms, as calls of functional syntax."""
    from rdflib import URIRef

    draw = random.Random(seed)
    classes = [URIRef(f"{E}C{n}") for n in range(count // 3)]
    roles = [URIRef(f"{E}p{n}") for n in range(count // 20)]
    some = [URIRef(f"{E}i{n}") for n in range(count // 20)]

    def role() -> Part:
        found = draw.choice(roles)
        return Call("ObjectInverseOf", (found,), 1) if draw.random() < 0.2 else found

    def axiom(n: int) -> Call:
        one, two = draw.choice(classes), draw.choice(classes)
        kind = draw.choices(range(7), (50, 15, 8, 8, 4, 5, 10))[0]
        child = n % len(classes)
        parent = classes[draw.randrange(max(child // 2, 1))]
        thing = URIRef(OWL + "Thing")
        return [
            Call("SubClassOf", (classes[child], parent), 1),
            Call("SubClassOf", (one, Call("ObjectSomeValuesFrom", (role(), two), 1)), 1),
            Call("SubClassOf", (Call("ObjectSomeValuesFrom", (role(), thing), 1), one), 1),
            Call("ObjectPropertyRange", (draw.choice(roles), one), 1),
            Call("DisjointClasses", (one, two), 1),
            Call("SubObjectPropertyOf", (draw.choice(roles), role()), 1),
            Call("ClassAssertion", (one, draw.choice(some)), 1),
        ][kind]

    declared = [Call("Declaration", (Call("Class", (c,), 1),), 1) for c in classes]
    declared += [Call("Declaration", (Call("ObjectProperty", (r,), 1),), 1) for r in roles]
    return [*declared, *(axiom(n) for n in range(count))]


def functional(part: Part) -> str:
    """A call in functional syntax."""
    if not isinstance(part, Call):
        return f"<{part}>"
    return f"{part.name}({' '.join(map(functional, part.arguments))})"


def xml(part: Part, kind: str = "Class") -> str:
    """A call in OWL/XML."""
    if not isinstance(part, Call):
        name = str(part).removeprefix(E)
        kinds = {"p": "ObjectProperty", "i": "NamedIndividual"}
        return f'<{kinds.get(name[0], "Class")} IRI="{part}"/>'
    if part.name in ("Class", "ObjectProperty"):
        return xml(part.arguments[0])
    return f"<{part.name}>{''.join(map(xml, part.arguments))}</{part.name}>"


def write(folder: Path, axioms: list[Call]) -> list[Path]:
    """The ontology in five syntaxes."""
    from rdflib import BNode

    graph = Graph()
    for axiom in axioms:
        map_axiom(axiom, BNode(), lambda s, p, o, _: graph.add((s, p, o)))
    for name, syntax in (("o.ttl", "turtle"), ("o.nt", "nt"), ("o.owl", "xml")):
        graph.serialize(folder / name, format=syntax, encoding="utf-8")
    (folder / "o.ofn").write_text("Ontology(\n" + "\n".join(map(functional, axioms)) + "\n)")
    text = "\n".join(map(xml, axioms))
    (folder / "o.owx").write_text(
        f'<?xml version="1.0"?>\n<Ontology xmlns="{OWL}" ontologyIRI="{E}o">\n{text}\n</Ontology>'
    )
    return [folder / name for name in ("o.ttl", "o.nt", "o.owl", "o.ofn", "o.owx")]


def best(work: Callable[[], object]) -> float:
    """The shortest of three runs, in seconds."""
    found = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    formats = {"o.ttl": "turtle", "o.nt": "nt", "o.owl": "xml"}
    with tempfile.TemporaryDirectory() as folder:
        print(f"{count:,} axioms   ontoweir     rdflib's parser   ratio")
        for path in write(Path(folder), generate(count)):
            ours = best(lambda path=path: load_ontology([path], strict=True))  # type: ignore[misc]
            syntax = formats.get(path.name)
            if syntax is None:
                print(f"{path.suffix[1:]:15} {ours:6.2f} s")
                continue
            theirs = best(lambda p=path, s=syntax: Graph().parse(p, format=s))  # type: ignore[misc]
            ratio = f"{theirs:6.2f} s            {ours / theirs:.1f}"
            print(f"{path.suffix[1:]:15} {ours:6.2f} s   {ratio}")


if __name__ == "__main__":
    main()
