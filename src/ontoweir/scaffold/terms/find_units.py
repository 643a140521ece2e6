"""The units of measure that columns' names say, as QUDT calls them."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from ontoweir.scaffold.terms.name_terms import words_of

UNIT, QUDT = "http://qudt.org/vocab/unit/", "http://qudt.org/schema/qudt/"

_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "°c": "DEG_C",
        "c": "DEG_C",
        "°f": "DEG_F",
        "k": "K",
        "%": "PERCENT",
        "pa": "PA",
        "hpa": "HectoPA",
        "kpa": "KiloPA",
        "bar": "BAR",
        "mbar": "MilliBAR",
        "w": "W",
        "kw": "KiloW",
        "mw": "MegaW",
        "wh": "W-HR",
        "kwh": "KiloW-HR",
        "v": "V",
        "a": "A",
        "hz": "HZ",
        "rpm": "REV-PER-MIN",
        "1/min": "REV-PER-MIN",
        "km/h": "KiloM-PER-HR",
        "mph": "MI-PER-HR",
        "m/s": "M-PER-SEC",
        "m": "M",
        "mm": "MilliM",
        "cm": "CentiM",
        "km": "KiloM",
        "g": "GM",
        "kg": "KiloGM",
        "lx": "LUX",
        "lux": "LUX",
        "ppm": "PPM",
        "ppb": "PPB",
        "db": "DeciB",
        "l": "L",
        "m3": "M3",
        "m³": "M3",
        "°": "DEG",
        "m³/h": "M3-PER-HR",
        "m3/h": "M3-PER-HR",
        "l/h": "L-PER-HR",
        "l/min": "L-PER-MIN",
        "w/m²": "W-PER-M2",
        "w/m2": "W-PER-M2",
        "mwh": "MegaW-HR",
        "µg/m³": "MicroGM-PER-M3",
        "µg/m3": "MicroGM-PER-M3",
        "ug/m3": "MicroGM-PER-M3",
    }
)
"""Of what stands in brackets, in lower case."""
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        **{
            sign: unit
            for sign, unit in _SIGNS.items()
            if len(sign) > 1 and sign.isalpha() and sign not in ("mw", "km", "mm", "cm", "db")
        },
        "celsius": "DEG_C",
        "degc": "DEG_C",
        "fahrenheit": "DEG_F",
        "degf": "DEG_F",
        "kelvin": "K",
        "percent": "PERCENT",
        "pct": "PERCENT",
        "kmh": "KiloM-PER-HR",
        "kph": "KiloM-PER-HR",
        "km": "KiloM",
        "mm": "MilliM",
        "cm": "CentiM",
        "watt": "W",
        "watts": "W",
        "volt": "V",
        "volts": "V",
        "db": "DeciB",
    }
)
"""Of the last word of a name: those that are hardly anything else."""
_LONGEST = 16
_COMPOSED = re.compile(
    r"deg(rees?)?[ ._]?[cfkt]?"
    r"|[a-zµ°]{1,6}[0-9]?(/[a-z0-9^]{1,6})+"
    r"|[a-zµ°]{1,6}( [a-z]{1,4}\^?-?[0-9])+"
)
"""Units by their form: degrees, `m/s`, `W/m^2`, `kg m-3`."""


def find_unit(name: str) -> tuple[str, str] | None:
    """The IRI of the unit that a column's name says, and what says it (None: it says none).

    >>> find_unit("Temperatur (°C)")
    ('http://qudt.org/vocab/unit/DEG_C', '(°C)')
    >>> find_unit("wind_speed_kmh")
    ('http://qudt.org/vocab/unit/KiloM-PER-HR', 'kmh')
    >>> find_unit("temp_f")
    ('http://qudt.org/vocab/unit/DEG_F', 'f')
    >>> find_unit("Rel. humidity, %")
    ('http://qudt.org/vocab/unit/PERCENT', ', %')
    >>> find_unit("Flow [l/min]")
    ('http://qudt.org/vocab/unit/L-PER-MIN', '[l/min]')
    >>> find_unit("Ventil %")
    ('http://qudt.org/vocab/unit/PERCENT', '%')
    >>> find_unit("temp"), find_unit("grade_c")
    (None, None)
    """
    said = re.search(r"[(\[]\s*([^()\[\]]{1,10}?)\s*[)\]]\s*$", name)
    if said is not None:
        unit = _SIGNS.get(said[1].lower().replace("μ", "µ"))
        return None if unit is None else (UNIT + unit, said[0].strip())
    apart = re.search(r"(?:,\s*| / |\s+(?=[%°]))(%|°|[^\s,]{2,10})\s*$", name)
    if apart is not None and (unit := _SIGNS.get(apart[1].lower().replace("μ", "µ"))):
        return UNIT + unit, apart[0].strip()
    words = words_of(name)
    if not words:
        return None
    if len(words) > 1 and words[-1] in ("c", "f") and any(w.startswith("temp") for w in words):
        return f"{UNIT}DEG_{words[-1].upper()}", words[-1]
    last = re.split(r"[_\W]+", name.lower())[-1]  # of power_kW
    unit = _WORDS.get(last) or _WORDS.get(words[-1])
    return None if unit is None else (UNIT + unit, last)


def is_unit(text: str) -> bool:
    """Whether a text that stands by itself is a unit.

    >>> [is_unit(text) for text in ("Deg C", "kWh", "W/m^2", "µS cm-1", "-", "ill", "no")]
    [True, True, True, True, True, False, False]
    """
    plain = text.strip().lower().replace("μ", "µ")
    bare = plain.strip("[](){}<> ")
    if bare in _SIGNS or bare in _WORDS or not bare.strip("-–—%°"):
        return True
    marked = bool(re.search("[°%‰µ²³]", bare))
    return len(bare) <= _LONGEST and (marked or bool(_COMPOSED.fullmatch(bare)))
