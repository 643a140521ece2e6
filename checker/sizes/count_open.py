"""How many values of a stream are open at once, where a rule closes them."""

from ontoweir.checker.sizes.size_key import Factor
from ontoweir.mappings.model.catalog import ClosingRule, Stream


def count_open(stream: Stream, rule: ClosingRule, wait: int, rate: Factor | None = None) -> Factor:
    """V: what a rule leaves open after a finished step, and what has come in the steps for which
    matches are waited for.

    Args:
        stream: of whose values the rule is.
        rule: what is declared.
        wait: how many steps after it is closed a value is kept.
        rate: how many rows come in a step (None: those of the stream).
    """
    rate = rate or Factor(stream.max_per_timestamp, f"R({stream.name})")
    shown = "open sessions" if rule.session else f"open {', '.join(rule.columns)}"
    if rule.width_us is not None and rule.span_us is not None:
        # rows come in a span from a value on: a value is as old as that, or as its matches may be;
        # and rows come before it, some time ahead
        number = (rule.span_us + rule.ahead_us + wait * stream.step_us) // rule.width_us + 1
        return Factor(number, f"{number} {shown}")
    far = rule.gap_us if rule.span_us is None else rule.span_us
    if far is not None:
        steps = -(-(far + rule.ahead_us + wait * stream.step_us) // stream.grid_us) + 1
        size = None if rate.size is None else rate.size * steps
        return Factor(size, f"{rate.formula} · {steps} steps of {shown}")
    steps = -(-wait * stream.step_us // stream.grid_us) + 1
    bases = (rule.rows, rule.most_open, rule.slack, rule.late_rows)
    base = next(number for number in bases if number is not None) + rule.is_order
    size = None if rate.size is None else base + rate.size * steps
    text = rate.formula if steps == 1 else f"{rate.formula} · {steps} steps"
    return Factor(size, f"({base} + {text}) {shown}")
