"""How the answers of a query change: its update pattern ([G] section 3)."""

from enum import StrEnum

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import SynopsisTable
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.model.spj import SpjUnion, output_attributes
from ontoweir.rewriter.windows.window import ENDS


class UpdatePattern(StrEnum):
    """`MON`: answers stay. `WKS`: they end in the order in which they began. `WK`: when one ends is
    known when it begins. `STR`: it is not."""

    MON = "MON"
    WKS = "WKS"
    WK = "WK"
    STR = "STR"


def find_node_pattern(form: NormalForm, table: SynopsisTable) -> UpdatePattern:
    """The update pattern of what a table of a plan holds, or of the answers that it makes.

    Matches without windows stay; those of one stream's window end as they begin; those of several
    members end at a time known when they begin, and so does an element of a set: at the last end
    that was found.
    """
    index = {m.alias: m.index for m in form.members}
    ending = {
        index[attribute.alias]
        for name, output in form.query.outputs
        if name.startswith(ENDS)
        for attribute in output_attributes(output)
    }
    if not ending & table.members:
        return UpdatePattern.MON
    whole = len(table.members) == len(form.members)
    if len(table.members) > 1 or (form.distinct and whole) or table.latest is not None:
        return UpdatePattern.WK
    return UpdatePattern.WKS


def find_pattern(union: SpjUnion, catalog: Catalog, *, closed: bool = False) -> UpdatePattern:
    """The update pattern of a query.

    A window is WKS, and a join of windows WK ([G], rules 1 to 3); what is shown for ever is MON,
    and so are groups by a bucket of time, or of values that a rule closes, which are final. Groups
    without one, and those of sliding windows, are STR: a row takes the place of the one before
    (rule 4; theory, section 11).

    Args:
        union: the query.
        catalog: with its views and buckets.
        closed: a rule closes the values of its groups (Verdict.closes_values).
    """
    if union.joined is not None:
        return UpdatePattern.STR
    if union.aggregation is not None:
        if closed:
            return UpdatePattern.MON
        closing = find_closing(union, catalog)
        return UpdatePattern.STR if closing is None else UpdatePattern.MON
    if union.standing is not None:
        return UpdatePattern.STR
    if not union.ends:
        return UpdatePattern.MON
    if union.distinct or len(union.disjuncts) != 1:
        return UpdatePattern.WK
    streams = [o for o in union.disjuncts[0].occurrences if o.table in catalog.streams]
    return UpdatePattern.WKS if len(streams) == 1 else UpdatePattern.WK
