"""What the handouts show of the demo, as JSON on stdout: {language: {name: SVG, or a piece of a page}}."""

import json
import sys

import differences
import figures
from labkit import draw
from programs import lecture
from solved import load
from swell import sizes


def drawn() -> dict[str, dict[str, str]]:
    """All of them; plots are the same in both languages."""
    lab = load("lab1_scalars")
    plots = {
        "u-curve": figures.u_curves(
            differences.EXPONENTIAL, *differences.curves(lab, differences.EXPONENTIAL)
        ).svg,
        "swell": figures.sizes(sizes(lab, range(1, 11))).svg,
    }
    x1, x2 = lab.graph.variable(2.0, "x1"), lab.graph.variable(5.0, "x2")
    y = lecture(x1, x2, lab.graph.log, lab.graph.sin)[-1]

    def sweeps(language: str) -> dict[str, str]:
        forward = draw.sweep(y, "forward", inputs=[x1, x2], direction=[1.0, 0.0], language=language)
        return {"forward": forward.html, "reverse": draw.sweep(y, "reverse", language=language).html}

    return {language: plots | sweeps(language) for language in ("zh", "en")}


if __name__ == "__main__":
    json.dump(drawn(), sys.stdout)
