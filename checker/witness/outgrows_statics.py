"""Whether the tuples of a witness refer to more and more rows of a static relation."""

from ontoweir.checker.witness.witness import Witness
from ontoweir.mappings.model.catalog import Catalog


def outgrows_statics(witness: Witness, catalog: Catalog) -> bool:
    """Whether it has a row of a static relation for each of its tuples, by a reference of several
    columns: the relation, which does not change, has no rows for any number of them. (What refers
    by one column has a finite domain, and is not told apart.)

    Args:
        witness: with several tuples.
        catalog: the tables.
    """
    told = [*witness.optional, *(row for suffix in witness.suffixes for row in suffix)]
    for stream in catalog.streams.values():
        mine = [dict(row.values) for row in told if row.table == stream.name]
        for reference in stream.references:
            if len(reference.columns) == 1:
                continue
            found = {tuple(row[c] for c in reference.columns) for row in mine}
            if sum(None not in values for values in found) >= witness.size:
                return True
    return False
