"""Sliders for the lecture hall. Without ipywidgets, or on paper, the pictures above them are complete."""

from collections.abc import Callable
from typing import Any

from IPython.display import display

from says import said


def slide(show: Callable[..., Any], **choices: Any) -> None:
    """Call `show` with what is chosen, and again at each change.

    choices: by name of a parameter a list of values, or of (label, value); the first is where it starts.
    """
    try:
        import ipywidgets
    except ImportError:
        display(said("demo.no-sliders"))  # type: ignore[no-untyped-call]
        return
    controls = {}
    for name, values in choices.items():
        kind = ipywidgets.Dropdown if isinstance(values[0], str) else ipywidgets.SelectionSlider
        controls[name] = kind(options=values, description=name)

    def show_chosen(**chosen: Any) -> None:
        result = show(**chosen)
        if result is not None:  # it may have printed instead
            display(result)  # type: ignore[no-untyped-call]

    shown = ipywidgets.interactive_output(show_chosen, controls)
    display(ipywidgets.VBox([*controls.values(), shown]))  # type: ignore[no-untyped-call]
