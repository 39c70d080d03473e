"""nbgrader's gradebook, filled from stored results: nbgrader serves for grading by hand and for feedback.

Each import of nbgrader costs seconds, so modules here import it inside functions, but for those that nbgrader
itself loads: `guards.py`, `regrading.py`, `safe_markdown.py`, `server.py`.
"""
