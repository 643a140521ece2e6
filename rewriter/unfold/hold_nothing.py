"""What is told of no solution: one row, from the first timestamp of the query's streams on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.mappings.model.catalog import Catalog, IntType
from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.query import Atom, ClassAtom, ConjunctiveQuery, Variable
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    ConstantOutput,
    LiteralOutput,
    Op,
    Output,
    SpjQuery,
)
from ontoweir.rewriter.unfold.match_atoms import Match, match_atoms
from ontoweir.rewriter.unfold.translate_filters import term_output

Choose = Callable[[ConjunctiveQuery, Atom], tuple[MappingAssertion, ...]]


def hold_nothing(
    ucq: Sequence[ConjunctiveQuery], choose: Choose, catalog: Catalog
) -> Iterator[SpjQuery]:
    """Queries over all streams that the patterns of others are of, which never hold.

    Where nothing can match and solutions are not grouped, there is one row, as SPARQL and SQL have
    it, and it begins with these streams; so their names have to be kept.

    Args:
        ucq: queries that have no solution, over whatever data.
        choose: the assertions that may match an atom.
        catalog: the tables.
    """
    for query in ucq:
        found = [(atom, of) for atom in query.atoms if (of := choose(query, atom))]
        flowing = any(a.stream_alias is not None for _, of in found for a in of)
        for number in range(max(len(of) for _, of in found) if flowing else 0):
            chosen = [(atom, of[number % len(of)]) for atom, of in found]
            match = _match_apart(query, chosen, catalog)
            outputs = _list_outputs(query, match, [atom for atom, _ in chosen])
            if outputs is not None:
                yield outputs


def _match_apart(
    query: ConjunctiveQuery, chosen: Sequence[tuple[Atom, MappingAssertion]], catalog: Catalog
) -> Match:
    """A row of each assertion, whatever the others are: atoms share nothing."""
    atoms = tuple(_set_apart(atom, n) for n, (atom, _) in enumerate(chosen))
    apart = replace(query, atoms=atoms, filters=(), choices=(), distinct=True)
    return next(match_atoms(apart, tuple((made,) for _, made in chosen), catalog))


def _set_apart(atom: Atom, number: int) -> Atom:
    """The atom with variables of its own."""
    time = _name("time", number)
    if isinstance(atom, ClassAtom):
        return replace(atom, term=_name("subject", number), time=time)
    subject, value = _name("subject", number), _name("object", number)
    return replace(atom, subject=subject, object=value, time=time)


def _name(part: str, number: int) -> Variable:
    return Variable(f"{part} {number}")


def _list_outputs(query: ConjunctiveQuery, match: Match, atoms: Sequence[Atom]) -> SpjQuery | None:
    """The query that never holds (None: its rows are of no stream)."""
    times: dict[Variable | None, Attribute] = {}
    for n, atom in enumerate(atoms):
        if (of := match.times.get(_name("time", n))) is not None:
            times.setdefault(atom.time, of[0])
    if not times:
        return None
    one = next(iter(times.values()))
    terms = _list_terms(match, atoms)
    fixed = {v: term_output(term) for v, term in query.constants}
    none = ConstantOutput("0", is_iri=False, datatype=f"{XSD}integer", kind=IntType())
    outputs: list[tuple[str, Output]] = [
        (v.name, fixed.get(v) or terms.get(v) or none) for v in query.head
    ]
    for named in query.buckets:
        column = make_column(named.bucket).name
        time = times.get(named.time, one)
        outputs.append((named.name, LiteralOutput(Attribute(time.alias, column), f"{XSD}dateTime")))
    return SpjQuery(
        match.occurrences,
        (*match.conditions, Compare(one, Op.NE, one)),
        tuple(outputs),
        match.provenance,
    )


def _list_terms(match: Match, atoms: Sequence[Atom]) -> Mapping[Variable, Output]:
    """A term of each variable; a literal where it is one somewhere, which can be added up."""
    made: dict[Variable, Output] = {}
    for n, atom in enumerate(atoms):
        pairs = (
            [(atom.term, "subject")]
            if isinstance(atom, ClassAtom)
            else [(atom.subject, "subject"), (atom.object, "object")]
        )
        for term, part in pairs:
            output = match.bindings.get(_name(part, n))
            if not isinstance(term, Variable) or output is None:
                continue
            if term not in made or isinstance(output, LiteralOutput):
                made[term] = output
    return made
