"""Topics with names for their levels: `sensors/{device}/temp`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """`filter`: what is subscribed to; `names`: of its levels, None for those without one."""

    filter: str
    names: tuple[str | None, ...]

    def find_levels(self, topic: str) -> dict[str, str]:
        """By name, the levels of a message's topic.

        >>> read_topic("sensors/{device}/temp").find_levels("sensors/d7/temp")
        {'device': 'd7'}
        """
        there = zip(self.names, topic.split("/"), strict=False)
        return {name: level for name, level in there if name is not None}


def read_topic(text: str) -> Topic:
    """What a source's `topic` says; the catalog has seen to it that it is one.

    >>> read_topic("a/{b}/+/#")
    Topic(filter='a/+/+/#', names=(None, 'b', None, None))
    """
    levels = text.split("/")
    names = tuple(x[1:-1] if x.startswith("{") and x.endswith("}") else None for x in levels)
    plain = ("+" if name else level for name, level in zip(names, levels, strict=True))
    return Topic("/".join(plain), names)
