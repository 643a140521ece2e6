"""What the playground shows of a replay."""

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from ontoweir.dashboard.steps.replay_steps import Steps
from ontoweir.dashboard.steps.view_step import chart_steps, view_step
from ontoweir.draw.draw_chart import draw_chart
from ontoweir.errors import OntoweirError


def show_steps(asked: Mapping[str, str], replay: Callable[[], Steps]) -> dict[str, Any]:
    """What the template needs to show one time of a replay: `steps`, `view`, `walk` and `walked`;
    or `unplayed`, why there is no replay.

    Args:
        asked: the form's fields: `go`, or else `step`, is the number of the time, from 0.
        replay: gives the answers.
    """
    try:
        steps = replay()
    except OntoweirError as error:
        return {"unplayed": str(error)}
    if not steps.steps:
        return {"steps": steps}
    said = asked.get("go", asked.get("step", ""))
    number = int(said) if said.isascii() and said.isdigit() and len(said) < 10 else 0
    view = view_step(steps, number)
    drawn = Markup(draw_chart(chart_steps(steps, view.number)))
    return {"steps": steps, "view": view, "walk": drawn, "walked": "step" in asked}
