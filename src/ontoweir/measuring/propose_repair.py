"""A repair that the data at hand supports: declarations that it keeps make a query bounded."""

from ontoweir.edit.describe_repairs import DescribedRepair, compare_texts
from ontoweir.errors import Source
from ontoweir.measuring.measure_project import Remedy
from ontoweir.measuring.write_declarations import write_declarations


def propose_repair(remedy: Remedy, file: str, text: str) -> DescribedRepair | None:
    """What a query needs to be bounded, of what the data keeps, as a repair of the project file;
    None: it needs nothing, that does not suffice, or there is no simple place for it.

    Args:
        remedy: what it needs.
        file: the project file.
        text: what it says.
    """
    if not remedy.needed:
        return None
    changed, left = write_declarations(text, [p.declared for p in remedy.needed])
    if left:
        return None
    actions = (f"declare what the data keeps: {p.evidence}" for p in remedy.needed)
    edits = compare_texts(Source(file), text, changed)
    return DescribedRepair(tuple(actions), tuple(edits), remedy.after, rejects=0)
