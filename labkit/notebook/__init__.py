"""What a lab's notebook calls: `begin()` in its first cell, then `check(task)` and `reveal(question)`."""

from labkit.notebook.answering import expose, reveal, whose_numbers
from labkit.notebook.checking import check
from labkit.notebook.session import begin

__all__ = ["begin", "check", "expose", "reveal", "whose_numbers"]
