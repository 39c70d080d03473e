"""Typical mistakes in kernels, told by numbers and by what the checked mode reports; with real workers."""

from typing import Any

import pytest

from labkit.cuda import compile as cuda

pytestmark = pytest.mark.skipif(cuda.compiler() is None, reason="no C++ compiler on this machine")

MUTANTS = """
[[mutant]]
id = "factor-added"
family = "operation"
file = "kernels.cu"
text = "factor * x[i]"
replacement = "factor + x[i]"
tasks = ["scale"]
hint = { zh = "想一想。", en = "Think." }

[[mutant]]
id = "no-barrier"
family = "race"
file = "kernels.cu"
text = "t + half];\\n        }\\n        __syncthreads();"
replacement = "t + half];\\n        }"
tasks = ["total"]
hint = { zh = "想一想。", en = "Think." }
"""


# Code of other words with the mistake of that family.
WORK = {
    "operation": ("y[i] = factor * x[i];", "y[i] = x[i];\n        y[i] += factor;"),
    "race": ("        }\n        __syncthreads();\n    }\n", "        }\n    }\n    __syncthreads();\n"),
}


def test_mistakes_in_kernels_that_are_no_mutants_are_recognised(cuda_course: Any) -> None:
    (cuda_course.lab.reference / "mutants.toml").write_text(MUTANTS, encoding="utf-8")
    text = cuda_course.solved["kernels.cu"]
    for old, new in WORK.values():
        assert text.count(old) == 1
        text = text.replace(old, new)
    cuda_course.hand_in("ann", kernels=text)
    details = cuda_course.grade().file("ann", "facts.json")["details"]
    assert [one["family"] for one in details if one["family"]] == list(WORK)
