"""Give a SPARQL query the rows of the aggregate SELECTs within it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ontoweir.errors import QueryError
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.blocks.map_answers import map_answers
from ontoweir.rewriter.blocks.place_times import Behind, place_times
from ontoweir.rewriter.model.query import ConjunctiveQuery, Variable
from ontoweir.rewriter.model.spj import Block, SpjUnion


@dataclass(frozen=True, slots=True)
class Reading:
    """A query with the rows that it reads: its branches, the mappings and the catalog that make
    them, and the queries that they are answers of."""

    branches: tuple[ConjunctiveQuery, ...]
    mappings: MappingSet
    catalog: Catalog
    blocks: tuple[Block, ...] = ()


class NoTimesError(Exception):
    """Variables of a SELECT within a query are values, as they do not follow from when its rows are
    final; `values`: their properties."""

    def __init__(self, values: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(values)))
        self.values = values


def read_answers(
    branches: tuple[ConjunctiveQuery, ...],
    mappings: MappingSet,
    catalog: Catalog,
    compile_inner: Callable[[tuple[ConjunctiveQuery, ...], Catalog], SpjUnion],
) -> Reading:
    """A query over the streams that the answers of SELECTs within it are.

    Args:
        branches: of the query.
        mappings: what makes its triples.
        catalog: the tables.
        compile_inner: unfolds the branches of a SELECT over a catalog.

    Raises:
        QueryError: the groups of a SELECT are not final, or a variable of it may have no value.
        NoTimesError: what was read as a time of a SELECT is a value.
    """
    if not branches[0].inner:
        return Reading(branches, mappings, catalog)
    graphs = branches[0].graphs
    assertions, blocks = [*mappings.assertions], list[Block]()
    behind: dict[Variable, list[Behind]] = {}
    values = set[str]()
    tables = catalog
    for inner in branches[0].inner:
        asked = tuple(replace(branch, graphs=graphs) for branch in inner.branches)
        made = map_answers(inner, compile_inner(asked, catalog), tables, graphs)
        tables = made.catalog
        blocks += made.blocks
        assertions += made.assertions
        values |= {inner.predicate(t) for t in inner.times if t not in made.behind_us}
        for name in inner.times:
            if name in made.behind_us:
                told = Behind(inner.at, made.behind_us[name], inner.predicate(name))
                behind.setdefault(Variable(name), []).append(told)
    if values:
        raise NoTimesError(frozenset(values))
    placed = tuple(place_times(branch, behind) for branch in branches)
    if len({branch.buckets for branch in placed}) > 1:
        raise QueryError(
            "a time that is another one in each branch of UNION",
            why="in one it is that of a subquery's rows, so long before they are final, and in "
            "another that of a graph, or of another subquery",
            fix="write one query for each",
            source=branches[0].source,
        )
    return Reading(placed, replace(mappings, assertions=tuple(assertions)), tables, tuple(blocks))
