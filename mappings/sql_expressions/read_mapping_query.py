"""Reads the SQL of a mapping: expressions of one row are derived columns."""

import re

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.r2rml.quote_names import quote_names
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import SelectUnion, parse_sql_text, read_select_tree
from ontoweir.mappings.sql_expressions.derive_query_columns import derive_query_columns


def read_mapping_query(
    text: str, catalog: Catalog
) -> tuple[SelectUnion, tuple[tuple[str, Expression], ...]]:
    """The SELECTs of a mapping's SQL, and the columns that are derived for it, by their tables.

    Args:
        text: Spark SQL; "x" in double quotes is a name, as in R2RML.
        catalog: the tables.

    Raises:
        SqlRefusal: the text is not SQL, beyond SPJ, has an expression that is not read, or names
            what the catalog does not declare.
    """
    try:
        tree = parse_sql_text(quote_names(text))
        tree, whole, derived = derive_query_columns(tree, catalog, mapping=True)
        return read_select_tree(tree, whole, mapping=True), derived
    except SqlRefusal as refusal:
        name = re.search(r"unknown column '(.*?)'", refusal.what)
        if name is not None and f'"{name[1]}"' in text:
            why = f'{refusal.why}; "{name[1]}" in double quotes is a name, as in R2RML'
            fix = f"{refusal.fix}; if it is a text, write '{name[1]}' in single quotes"
            raise SqlRefusal(refusal.what, why=why, fix=fix, line=refusal.line) from None
        raise
