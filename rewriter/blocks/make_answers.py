"""The answers of an aggregate query, or of a set query, as what another query reads."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.blocks.declare_block import AT, DeclaredBlock, declare_block
from ontoweir.rewriter.blocks.declare_sessions import declare_sessions
from ontoweir.rewriter.blocks.declare_set import declare_set
from ontoweir.rewriter.blocks.list_rising import list_rising
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import Block, SpjUnion
from ontoweir.rewriter.subqueries.select_answers import Answers


def make_answers(
    union: SpjUnion, name: str, catalog: Catalog, *, times: Collection[str] | None = None
) -> tuple[Answers, Block]:
    """The answers of an aggregate query, or of a set query, as a stream of the catalog.

    Args:
        union: the query; a grouping without aggregates is the set of its groups.
        name: what the stream is called, if no table is called so.
        catalog: the tables, with the streams of answers that the query reads.
        times: the columns of sessions that may be times before the stream's (None: all).

    Raises:
        SqlRefusal: its answers are not final, or have a column called like their timestamp.
    """
    if union.aggregation is not None and not union.aggregation.aggregates:
        union = replace(union, aggregation=None, distinct=True)
    taken = {n.lower() for n in (*catalog.streams, *catalog.relations)}
    names = (name if n == 1 else f"{name}_{n}" for n in count(1))
    free = next(n for n in names if n.lower() not in taken)
    wide, aggregation = extend_catalog(catalog, union), union.aggregation
    made: DeclaredBlock | None
    if aggregation is not None and aggregation.session_us is not None:
        made = declare_sessions(union, free, wide, times)
    else:
        made = (declare_set if aggregation is None else declare_block)(union, free, wide)
    if made is None:
        raise SqlRefusal(
            "an aggregate in a subquery whose groups are not final",
            why="they change with every row, and what reads them would have to take back what it "
            "has answered",
            fix="group by a bucket of time too, e.g. date_trunc('hour', ts), whose groups are "
            "final when it is over; or aggregate in the outermost SELECT",
        )
    shown = union.variables if aggregation is None else aggregation.columns
    if AT in map(str.lower, shown):
        what = "DISTINCT" if aggregation is None else "aggregates"
        raise SqlRefusal(
            f"a column called {AT} in a subquery with {what}",
            why=f"{AT} is when its rows are final",
            fix="call it otherwise, with AS",
        )
    # what it has of views of its query, nobody else knows
    known = tuple(r for r in made.stream.references if r.relation in catalog.relations)
    made = replace(made, stream=replace(made.stream, references=known))
    streams = {**catalog.streams, free: made.stream}
    rising = {**catalog.rising, free: list_rising(union, wide) if made.apart else frozenset()}
    columns = ((AT, 0), *((n, made.behind_us.get(n)) for n in shown))
    return (
        Answers(made.stream, replace(catalog, streams=streams, rising=rising), columns),
        Block(made.stream, replace(union, name=free), next(iter(made.behind_us.items()), None)),
    )


def add_blocks(union: SpjUnion, blocks: Sequence[Block]) -> SpjUnion:
    """A query with those of some queries whose answers it reads, before its own blocks."""
    tables = {o.table for q in union.disjuncts for o in q.occurrences}
    tables |= {name for view in union.views for name in view.tables}
    tables |= {name for name, _ in (*union.buckets, *union.derived)}
    tables |= {b.meeting.base for b in union.blocks if b.meeting is not None}
    read = [b for b in blocks if b.stream.name in tables]
    own = (
        b
        if b.meeting is not None or not b.union.begins
        else replace(b, union=add_blocks(b.union, blocks))  # late rows of answers
        for b in union.blocks
        if b not in read
    )
    return replace(union, blocks=(*read, *own))
