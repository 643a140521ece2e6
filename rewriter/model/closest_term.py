"""The class or property that was probably meant by an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches


def closest_term(iri: str, known: Iterable[str]) -> str | None:
    """The one spelled almost so in the same namespace, else one of that name in another.

    Local names are compared, without case: whole IRIs of one namespace are all alike.
    """
    space, name = _split(iri)
    candidates = sorted(known)
    names = {_split(k)[1].lower(): k for k in candidates if _split(k)[0] == space}
    if close := get_close_matches(name.lower(), names, n=1):
        return names[close[0]]
    return next((k for k in candidates if name and _split(k)[1] == name), None)


def _split(iri: str) -> tuple[str, str]:
    """The namespace and the local name."""
    cut = max(iri.rfind("#"), iri.rfind("/")) + 1
    return iri[:cut], iri[cut:]
