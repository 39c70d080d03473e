"""`audit` from its labs to its last line: run, write build/audit/LAB.json and LAB.html, show."""

import functools
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from autograder import key
from autograder.batch import audited, record
from autograder.course import Course, CourseError, Lab
from autograder.key import VARIANTS
from autograder.reporting.console import FindLevel, console, progress, short

from . import audit, audit_machine, audit_page, audit_report
from .audit_diagnosis import diagnosed
from .audit_public import public_kills
from .audit_report import Findings
from .audit_runs import Runs
from .lookalikes import read_lookalikes


def audit_labs(
    course: Course, labs: Iterable[Lab], variants: int, jobs: int | None, machine: bool = False
) -> bool:
    """Whether all labs are sound; each mutant runs on so many variants. `machine`: a machine's changes too.

    On all variants it is also told whether feedback names the right mistake.

    Raises: CourseError, StorageError.
    """
    level = FindLevel()
    jobs = jobs or len(os.sched_getaffinity(0))
    sound = True
    for lab in labs:
        depends = audited.withdraw(course, lab)
        read_lookalikes(lab)  # so that a slip in them is told at once
        kept = course.root / "build/audit" / lab.id
        with progress(lab.id) as bar:
            found = audit.audit(lab, Runs(lab, kept, level, jobs, *bar), variants)
        with progress(f"{lab.id}, public tests") as bar:
            public = public_kills(course, lab, [ruling.mutant for ruling in found.rulings], jobs, *bar)
        hunted = None
        if machine:
            with progress(f"{lab.id}, changes by machine") as bar:
                further = functools.partial(_further, lab, kept, level, jobs, bar)
                hunted = audit_machine.hunt(lab, Runs(lab, kept, level, jobs, *bar), further)
        told = None
        if variants == VARIANTS:
            with progress(f"{lab.id}, diagnosis") as bar:
                told = diagnosed(lab, level, jobs, *bar)
        if audited.basis(lab) != depends:
            raise CourseError(f"{lab.id} was changed while it was audited. Run the audit again.")
        findings = Findings(depends, found, public, hunted, told)
        file = audited.file(course, lab)
        record.write(file, record.as_json(audit_report.as_data(findings)))
        record.write(file.with_suffix(".html"), audit_page.page(findings))
        audit_report.show(findings, console())
        click.echo(f"Figures: {short(file)}; a page: {short(file.with_suffix('.html'))}")
        sound &= findings.sound
    return sound


def _further(
    lab: Lab,
    kept: Path,
    level: FindLevel,
    jobs: int,
    bar: tuple[Callable[[int], None], Callable[[], None]],
    number: int,
) -> Runs:
    """Runs with a key made from the course's, whose results are kept beside those of the others."""
    secret = hashlib.sha256(key.load_key() + bytes([number])).digest()
    return Runs(lab, kept.with_name(f"{lab.id}.{number}"), level, jobs, *bar, secret)
