"""The phrasings of a query, one after the other."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.differences.compare_windows import compare_windows
from ontoweir.rewriter.differences.join_difference import join_difference
from ontoweir.rewriter.differences.join_replaced import join_replaced
from ontoweir.rewriter.differences.last_in_window import last_in_window
from ontoweir.rewriter.differences.subtract_windows import subtract_windows
from ontoweir.rewriter.expressions.spell_constants import spell_constants
from ontoweir.rewriter.expressions.spell_nulls import spell_nulls
from ontoweir.rewriter.greatest.compare_extremes import compare_extremes
from ontoweir.rewriter.greatest.name_greatest import name_greatest
from ontoweir.rewriter.joins.split_exists import split_exists
from ontoweir.rewriter.latest.choose_values import choose_values
from ontoweir.rewriter.latest.compare_all import compare_all
from ontoweir.rewriter.latest.join_latest import join_latest
from ontoweir.rewriter.latest.lead_latest import lead_latest
from ontoweir.rewriter.latest.limit_rows import limit_rows
from ontoweir.rewriter.latest.name_later import name_later
from ontoweir.rewriter.ordered.compute_groups import compute_groups
from ontoweir.rewriter.ordered.group_days import group_days
from ontoweir.rewriter.ordered.group_sets import group_sets
from ontoweir.rewriter.ordered.join_days import join_days
from ontoweir.rewriter.ordered.nest_filters import nest_filters
from ontoweir.rewriter.ordered.nest_having import nest_having
from ontoweir.rewriter.ordered.number_in_buckets import number_in_buckets
from ontoweir.rewriter.ordered.number_values import number_values
from ontoweir.rewriter.ordered.root_variances import root_variances
from ontoweir.rewriter.ordered.show_times import show_times
from ontoweir.rewriter.ordered.split_groupings import split_groupings
from ontoweir.rewriter.phrasings.drop_order import drop_order
from ontoweir.rewriter.phrasings.group_all import group_all
from ontoweir.rewriter.phrasings.group_distinct import group_distinct
from ontoweir.rewriter.phrasings.group_parts import group_parts
from ontoweir.rewriter.phrasings.name_conditions import name_conditions
from ontoweir.rewriter.phrasings.name_parts import name_parts
from ontoweir.rewriter.phrasings.name_windows import name_windows
from ontoweir.rewriter.phrasings.nest_windows import nest_windows
from ontoweir.rewriter.phrasings.number_rows import number_rows
from ontoweir.rewriter.phrasings.subtract_rows import subtract_registered, subtract_rows
from ontoweir.rewriter.registers.compare_last import compare_last
from ontoweir.rewriter.registers.compare_presence import compare_presence
from ontoweir.rewriter.registers.count_registered import count_registered
from ontoweir.rewriter.registers.join_values import join_values
from ontoweir.rewriter.registers.name_presence import name_presence
from ontoweir.rewriter.registers.nest_static import nest_static
from ontoweir.rewriter.registers.open_rows import open_rows
from ontoweir.rewriter.registers.pad_registers import pad_registers
from ontoweir.rewriter.sessions.name_spark_windows import name_spark_windows
from ontoweir.rewriter.sessions.read_sessions import name_sessions
from ontoweir.rewriter.sessions.spread_windows import spread_windows
from ontoweir.rewriter.syntax.name_items import name_items
from ontoweir.rewriter.syntax.narrow_stars import narrow_stars
from ontoweir.rewriter.windows.read_window_tables import read_one_window

if TYPE_CHECKING:
    from sqlglot import exp


def settle_phrasings(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A query in the words that are read; it is changed in place.

    - ROLLUP, CUBE and GROUPING SETS are a UNION ALL; `EXISTS (q) = FALSE` is NOT EXISTS;
    - what is asked of the greatest time of each key is in the words that are read (name_greatest);
    - `* EXCEPT (a)` and `* REPLACE (x AS a)` are the columns that they are; NULL that is selected
      is computed of a column, and has a type; functions over windows are called as written;
    - EXCEPT and INTERSECT are NOT EXISTS and EXISTS, which are groups of rows in windows;
    - EXISTS of static relations beside joins is a condition of one row; a value of one is joined;
    - EXISTS in the ON of an inner join is in WHERE; inside of OR, or of an expression, it is one of
      parts that exclude each other;
    - DISTINCT ON is the row whose number is 1; of the greatest time of a key none is later;
    - the latest, and the first, row of a key or for another row, by LATERAL, joins with the
      greatest time, FIRST_VALUE, MIN_BY and comparisons with ALL, is QUALIFY, NOT EXISTS or ASOF
      JOIN;
    - HAVING of a latest value is a condition around the groups;
    - numbers in a part of a UNION ALL, which are aggregated, are computed of a column;
    - parts of a time: DATE_PART('hour', ts), EPOCH(ts), STRFTIME(ts, f);
    - COUNT_IF, BOOL_OR, ANY_VALUE, APPROX_COUNT_DISTINCT are COUNT, MAX, MIN, COUNT(DISTINCT);
    - rows of windows that overlap, and are not grouped by them, are of a UNION ALL;
    - expressions of what is grouped by are of the group's value; GROUP BY ALL names what it is;
    - Spark's windows of time are buckets, and sessions are runs of rows of a key;
    - functions over windows of rows of a bucket, and of groups, are over a subquery of groups;
    - GROUP BY CAST(ts AS DATE), or YEAR(ts), MONTH(ts), is by a bucket of time;
    - the first and the last value of a group, beside other aggregates, are MIN and MAX of numbers;
    - UNION of buckets, DISTINCT around subqueries that show some, and days of these are groups;
    - groups without aggregates are SELECT DISTINCT, or final as SELECT DISTINCT of a bucket is;
    - ORDER BY … LIMIT n are the rows with the first n numbers; of time alone it says nothing.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: EXCEPT or INTERSECT are of more than columns; a subquery stands for a value;
            an ORDER BY is by more than time; values that may be NULL are compared with ALL.
    """
    from sqlglot import exp

    compare_presence(tree := subtract_registered(tree, catalog))
    tree = nest_static(split_groupings(tree, catalog), catalog)
    nest_filters(tree, catalog)
    tree = lead_latest(name_greatest(tree, catalog), catalog)
    narrow_stars(tree, catalog)
    spell_nulls(tree, catalog)
    name_items(tree)
    tree = name_presence(open_rows(join_values(tree, catalog), catalog), catalog)
    tree = count_registered(pad_registers(tree, catalog), catalog)
    tree = compare_windows(join_difference(subtract_windows(tree, catalog), catalog), catalog)
    tree = last_in_window(join_replaced(compare_last(tree, catalog), catalog), catalog)
    tree = split_exists(subtract_rows(tree, catalog), catalog)
    nest_having(tree, catalog)
    spread_windows(tree)
    chosen = (exp.ArgMax, exp.ArgMin, exp.First, exp.Last)
    if isinstance(tree, exp.Select) and tree.find(*chosen) is not None:
        tree = read_one_window(tree)
    spell_constants(tree, catalog)
    name_parts(tree)
    tree = group_sets(tree, catalog)
    show_times(join_days(tree, catalog), catalog)
    for select in tree.find_all(exp.Select):
        name_windows(select)
    root_variances(tree)
    number_in_buckets(tree, catalog)
    for select in list(tree.find_all(exp.Select)):
        name_spark_windows(select, catalog)
        name_sessions(select, catalog)
        number_rows(select)
        compare_all(select, catalog)
        join_latest(select, catalog)
        name_later(select)
        compare_extremes(select, catalog)
        name_conditions(select)
        group_all(select)
        choose_values(select, catalog)
        number_values(select, catalog)
        group_parts(nest_windows(select, catalog), catalog)
        for group in (group_days, compute_groups, group_distinct):
            group(select, catalog)
    return drop_order(limit_rows(tree, catalog), catalog)
