"""Standard deviations OVER a window, as square roots of variances."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def root_variances(tree: "exp.Query") -> None:
    """Write SQRT(VAR_SAMP(x) OVER w) in the place of STDDEV(x) OVER w and STDDEV_SAMP(x) OVER w,
    and SQRT(VAR_POP(x) OVER w) in that of STDDEV_POP(x) OVER w, in place."""
    from sqlglot import exp

    for window in list(tree.find_all(exp.Window)):
        call = window.this
        if not isinstance(call, (exp.Stddev, exp.StddevSamp, exp.StddevPop)):
            continue
        kind = exp.VariancePop if isinstance(call, exp.StddevPop) else exp.Variance
        shown, name = window.arg_key == "expressions", window.sql("spark")
        shown = shown and isinstance(window.parent, exp.Select)
        made = exp.Sqrt(this=window.copy())
        made.this.set("this", kind(this=call.this.copy()))
        window.replace(exp.alias_(made, name, quoted=True) if shown else made)
