"""From what a student handed in, a folder or an archive, to a bounded set of plain text files.

    for found in find_submissions(Path("submitted"), "lab1").found:
        submission = read_submission(found, ["graph.py", "engine.py"])

Nothing is unpacked to disk, no link is followed, and nothing that a student can hand in raises.
"""

from autograder.intake.find import NothingFound, find_submissions
from autograder.intake.read import read_submission
from autograder.intake.submission import ClassFolder, Found, Submission

__all__ = ["ClassFolder", "Found", "NothingFound", "Submission", "find_submissions", "read_submission"]
