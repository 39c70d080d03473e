"""A Jacobian matrix as the passes fill it: columns in forward mode, rows in reverse mode."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solved import Lab

PAPER, INK, FRESH = "#ffffff", "#222222", "#bcdcf2"
CELL = f"color:{INK};border:1px solid #888;padding:.3rem .5rem;min-width:3.4rem;text-align:center"


@dataclass(frozen=True)
class Filling:
    """The matrix after each pass of a mode: shape (K, N), NaN where no pass has been yet."""

    mode: str
    stages: tuple[NDArray[np.float64], ...]

    def _repr_html_(self) -> str:
        tables = "".join(
            _table(f"{self.mode} {number}/{len(self.stages)}", stage, before)
            for number, (stage, before) in enumerate(
                zip(self.stages, (np.full_like(self.stages[0], np.nan), *self.stages), strict=False), 1
            )
        )
        return f'<div style="display:flex;flex-wrap:wrap;gap:1rem;margin:.5rem 0">{tables}</div>'


def filling(lab: Lab, outputs: Sequence[Any], inputs: Sequence[Any], mode: str) -> Filling:
    """Run the passes of a mode, "forward" (N of them) or "reverse" (K), and keep the matrix after each."""
    matrix = np.full((len(outputs), len(inputs)), np.nan)
    stages = []
    for i, node in enumerate(inputs if mode == "forward" else outputs):
        if mode == "forward":
            matrix[:, i] = lab.engine.forward_mode(outputs, [node], [1.0])
        else:
            adjoints = lab.engine.reverse_mode(node)
            matrix[i] = [adjoints.get(one, 0.0) for one in inputs]
        stages.append(matrix.copy())
    return Filling(mode, tuple(stages))


def _table(title: str, stage: NDArray[np.float64], before: NDArray[np.float64]) -> str:
    """One stage; what the pass has brought is on colour and bold."""
    rows = ""
    for k in range(stage.shape[0]):
        cells = ""
        for n in range(stage.shape[1]):
            fresh = np.isnan(before[k, n]) and not np.isnan(stage[k, n])
            look = CELL + f";background:{FRESH if fresh else PAPER};font-weight:{700 if fresh else 400}"
            text = "·" if np.isnan(stage[k, n]) else f"{stage[k, n]:.2f}"
            cells += f'<td style="{look}">{text}</td>'
        rows += f"<tr>{cells}</tr>"
    caption = f'<caption style="caption-side:top">{html.escape(title)}</caption>'
    return f'<table style="border-collapse:collapse;width:auto">{caption}{rows}</table>'
