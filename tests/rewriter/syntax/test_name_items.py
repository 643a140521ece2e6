"""Names of results that SELECT gives none."""

import pytest

from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.rewriter.syntax.name_items import name_items


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("`a b` * 2", "a b * 2"),
        ("x.`a b`", "a b"),
        ("LAG(a) OVER (ORDER BY ts)", "LAG(a) OVER (ORDER BY ts)"),
        ("1 + SUM(`a b`) OVER (ORDER BY ts)", "1 + SUM(a b) OVER (ORDER BY ts)"),
        ("LAG(a) OVER (ORDER BY ts) AS c", "c"),
        # others have names later on
        ("a * 2", ""),
        ("SUM(`a b`)", ""),
    ],
)
def test_what_has_no_name(item: str, name: str) -> None:
    tree = parse_sql_text(f"SELECT {item} FROM s")
    name_items(tree)
    assert tree.named_selects == [name] or (not name and tree.selects[0].alias_or_name == name)
