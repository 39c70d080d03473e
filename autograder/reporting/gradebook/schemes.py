"""Mark schemes of the questions graded by hand, for TAs' eyes: they stand in the notebook's source alone."""

from autograder.course import Lab

BEGIN, END = "### BEGIN MARK SCHEME", "### END MARK SCHEME"


def mark_schemes(lab: Lab) -> dict[tuple[str, str], str]:
    """(Grade id, language) -> its mark scheme; empty where the lab's source can't be read."""
    import jupytext

    try:
        text = (lab.reference / str(lab.notebook_source)).read_text(encoding="utf-8")
    except OSError:
        return {}
    return {
        (cell.metadata["manual"], cell.metadata.get("lang", "")): _between(cell.source)
        for cell in jupytext.reads(text, fmt="py:percent").cells
        if "manual" in cell.metadata
    }


def _between(source: str) -> str:
    return source.partition(BEGIN)[2].partition(END)[0].strip()
