"""Write examples/submitted: 45 hand-ins of lab 1, 27 of lab 2. For the course team, after a change of given code."""

import shutil
import sys
from pathlib import Path

import lab1
import lab2
from hand_ins import ROOT


def main(out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    for sample, count in ((lab1.SAMPLE, 45), (lab2.SAMPLE, 27)):
        assert len(sample.students) == count, (sample.id, len(sample.students))
        sample.write(out)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "examples/submitted")
