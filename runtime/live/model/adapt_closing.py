"""Of a rule that closes values, the k that a live run uses ([B] 5.3, 6.3): what rows show."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.runtime.groups.value_closing import ValueClosing
from ontoweir.runtime.rules.meter_rules import Metered, RuleMeter, k_in_use
from ontoweir.runtime.rules.watched_rule import RuleKind


def adapt_closing(
    closing: ValueClosing, rules: Sequence[Metered], meters: Sequence[RuleMeter]
) -> ValueClosing:
    """When groups are final, by the k in use, where the rule that closes them adapts.

    Args:
        closing: by the k that is declared.
        rules: those that are measured.
        meters: what was seen of them (none: nothing yet).
    """
    declared = {
        RuleKind.GAP: closing.gap_us,
        RuleKind.ROWS: closing.rows,
        RuleKind.SLACK: closing.slack,
        RuleKind.ORDER: closing.late_rows,
    }
    for metered, meter in zip(rules, meters, strict=False):
        rule = metered.rule
        mine = (rule.stream, rule.columns) == (closing.stream, closing.columns)
        if metered.floor is None or not mine or declared.get(rule.kind) != rule.span:
            continue
        used, since = k_in_use(metered, meter), meter.since_us
        match rule.kind:
            case RuleKind.GAP:
                return replace(closing, gap_us=used, begun_us=since)
            case RuleKind.ROWS:
                return replace(closing, rows=used)
            case RuleKind.SLACK:
                return replace(closing, slack=used, begun_us=since)
            case RuleKind.ORDER:
                return replace(closing, late_rows=used, begun_us=since)
            case RuleKind.SPAN | RuleKind.END:
                continue
    return closing
