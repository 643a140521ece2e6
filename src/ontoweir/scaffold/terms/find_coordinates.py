"""The columns of a table that are a latitude and a longitude."""

from ontoweir.mappings.model.catalog import DecimalType, FloatType, Relation, Stream
from ontoweir.scaffold.terms.name_terms import words_of

GEO = "http://www.w3.org/2003/01/geo/wgs84_pos#"

_LATITUDE = {"lat", "latitude", "breitengrad"}
_LONGITUDE = {"lon", "lng", "long", "longitude", "längengrad", "laengengrad"}


def find_coordinates(table: Stream | Relation) -> dict[str, str]:
    """By column, the property of the W3C's vocabulary of places: of one latitude and one
    longitude, numbers with a fraction (nothing, where there are not just the two).

    Args:
        table: with columns that are called so.
    """
    numbers = [c.name for c in table.columns if isinstance(c.type, DecimalType | FloatType)]
    found = [
        [name for name in numbers if words & {*words_of(name)}] for words in (_LATITUDE, _LONGITUDE)
    ]
    if [len(names) for names in found] != [1, 1] or found[0] == found[1]:
        return {}
    return {found[0][0]: f"{GEO}lat", found[1][0]: f"{GEO}long"}
