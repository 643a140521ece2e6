"""The stream that the answers of SELECT DISTINCT are, each of them once."""

from math import prod

from ontoweir.mappings.model.catalog import ANSWERS, Catalog, Stream
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.blocks.declare_block import AT, DeclaredBlock
from ontoweir.rewriter.blocks.declare_columns import declare_columns, is_single, time_behind
from ontoweir.rewriter.blocks.declare_groups import count_values
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput, NullOutput, SpjQuery, SpjUnion


def declare_set(union: SpjUnion, name: str, catalog: Catalog) -> DeclaredBlock:
    """What follows for the answers of a set query, as a stream.

    An answer is there from the time on at which it is found first, and no other one is equal to it.
    A time that answers show, of the one stream that they are of, is that time.

    Args:
        union: a set query without aggregates; a column of it may be NULL.
        name: what the stream is called.
        catalog: with its views, blocks, buckets and derived columns (`extend_catalog`).

    Raises:
        SqlRefusal: answers end, are of static relations alone, or a column of theirs is a constant.
    """
    if union.ends or union.begins:
        raise SqlRefusal(
            "NOW() in SELECT DISTINCT in a subquery whose rows are counted",
            why="an answer is prolonged by every further match, so its end is not known when it "
            "begins",
            fix="group by a bucket of time instead, or write DISTINCT in the outermost SELECT",
        )
    stamps = [stamp for q in union.disjuncts if (stamp := _find_stamp(q, catalog)) is not None]
    if not stamps or len(stamps) < len(union.disjuncts):
        raise SqlRefusal(
            "SELECT DISTINCT over static relations in a subquery whose rows are counted",
            why="it has no times, which its answers would begin with",
            fix="declare a relation with this SQL as its view",
        )
    for query in union.disjuncts:
        for variable, output in query.outputs:
            if not isinstance(output, LiteralOutput | NullOutput):
                raise SqlRefusal(
                    f"the constant {variable} under DISTINCT in a subquery whose rows are counted",
                    why="an answer of such a subquery is told apart by columns",
                    fix="select the constant in the query around it",
                )
    base = catalog.streams[_table_of(union.disjuncts[0], stamps[0])]
    behind: dict[str, int] = {}
    if is_single(union, catalog):
        for variable in union.variables:
            late = {time_behind(query, variable, catalog) for query in union.disjuncts}
            if len(late) == 1 and (us := late.pop()) is not None:
                behind[variable] = us
    shown = [n for n in union.variables if n not in behind]
    made = declare_columns(union, shown, stamps, catalog)
    single = is_single(union, catalog)
    sizes = [count_values(c) for c in made.columns]
    known = [size + 1 for size in sizes if size is not None]  # NULL is one more
    limits = [made.max_per_timestamp] if single else []
    limits += [prod(known)] if len(known) == len(sizes) else []
    stream = Stream(
        name,
        ANSWERS,
        AT,
        base.step_us,
        min((limit for limit in limits if limit is not None), default=None),
        made.columns,
        ((*shown, AT),),
        made.references,
        base.source,
        lags=made.lags if single else (),
    )
    return DeclaredBlock(stream, behind)


def _find_stamp(query: SpjQuery, catalog: Catalog) -> Attribute | None:
    """The timestamp of the first stream of a disjunct."""
    for occurrence in query.occurrences:
        stream = catalog.streams.get(occurrence.table)
        if stream is not None:
            return Attribute(occurrence.alias, stream.timestamp)
    return None


def _table_of(query: SpjQuery, stamp: Attribute) -> str:
    return next(o.table for o in query.occurrences if o.alias == stamp.alias)
