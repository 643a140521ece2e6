"""A query's text in fewer words: what is only another way to write what is read."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql_expressions.parse_names import parse_names
from ontoweir.rewriter.calendar.limit_filters import limit_filters
from ontoweir.rewriter.calendar.spell_now import spell_now
from ontoweir.rewriter.calendar.spell_parts import spell_parts
from ontoweir.rewriter.greatest.order_texts import order_texts
from ontoweir.rewriter.groups.read_sql_aggregate import name_quantiles
from ontoweir.rewriter.nulls.settle_false import settle_false
from ontoweir.rewriter.reshaped.move_having import move_having
from ontoweir.rewriter.reshaped.name_subqueries import name_subqueries
from ontoweir.rewriter.reshaped.number_first import number_first
from ontoweir.rewriter.reshaped.open_rows import open_rows
from ontoweir.rewriter.reshaped.read_unpivots import read_unpivots
from ontoweir.rewriter.reshaped.spell_values import spell_values
from ontoweir.rewriter.reshaped.vary_lengths import vary_lengths
from ontoweir.rewriter.reshaped.widen_unions import widen_unions

if TYPE_CHECKING:
    from sqlglot import exp


def spell_query(text: str, catalog: Catalog) -> "exp.Query":
    """The query of a text, with names as they are written, without UNPIVOT, rows of values, today
    and yesterday, what never holds, orders of texts, the first row by several columns, and numbers
    of several types in a UNION.

    Args:
        text: SQL.
        catalog: the tables.

    Raises:
        SqlRefusal: one of these is not read.
        QueryError: the text is not SQL.
    """
    tree = name_subqueries(parse_names(text, catalog), catalog)
    tree = read_unpivots(name_quantiles(vary_lengths(tree, catalog)), catalog)
    tree = spell_now(spell_parts(spell_values(open_rows(tree))), catalog)
    tree = number_first(limit_filters(move_having(tree), catalog), catalog)
    return widen_unions(order_texts(settle_false(tree, catalog), catalog), catalog)
