"""Which columns of a table are never NULL in an admitted row."""

from ontoweir.mappings.model.catalog import Relation, Stream


def never_null(table: Stream | Relation) -> frozenset[str]:
    """A stream's timestamp, and the columns of its keys without it: a row with a NULL there is
    rejected; of answers, those that are times of rows, or are said to have a value. NULL is allowed
    in keys with the timestamp, and in static relations.
    """
    if isinstance(table, Relation):
        return frozenset()
    whole = {column for key in table.keys if table.timestamp not in key for column in key}
    return frozenset({table.timestamp, *whole, *table.present, *table.filled})
