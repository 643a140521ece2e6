"""The graphs of a query: for every disjunct its streams in time, and its comparisons."""

from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.draw.draw_comparison import draw_comparison
from ontoweir.draw.draw_dependency import draw_dependency
from ontoweir.draw.draw_layout import Picture
from ontoweir.draw.draw_svg import print_sheet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion


def draw_query(union: SpjUnion, catalog: Catalog) -> str:
    """All graphs of a query as one SVG document; a disjunct that selects nothing is only named."""
    catalog = extend_catalog(catalog, union)
    pictures: list[tuple[str, Picture]] = []
    for number, query in enumerate(union.disjuncts, 1):
        form = normalise_query(query, distinct=union.distinct, catalog=catalog)
        empty = "" if form.satisfiable else " (selects nothing)"
        pictures.append((f"SQL {number}: streams, the earlier above{empty}", draw_dependency(form)))
        compared = draw_comparison(form, catalog)
        if compared is not None:
            pictures.append((f"SQL {number}: comparisons, the lesser above", compared))
    return print_sheet(pictures, union.name)
