"""What a page says of dates, points and limits, from the course's files: `{{ lab1.due }}` in its text."""

from datetime import datetime

from autograder.course import Course, Lab

_MOMENT = {"zh": "{0.year} 年 {0.month} 月 {0.day} 日 {0:%H:%M}", "en": "{0.day} {1} {0.year}, {0:%H:%M}"}
_MONTHS = "January February March April May June July August September October November December".split()
_PERCENT = {"zh": "{:g}%", "en": "{:g} %"}


def facts(course: Course, language: str) -> dict[str, object]:
    """Names of facts and their words in a language: the late policy's, and a dict for each lab."""
    return {
        "free_days": course.late.free_days,
        "per_day": _PERCENT[language].format(100 * course.late.per_day),
        **{lab.id: _lab_facts(lab, language) for lab in course.labs},
    }


def _lab_facts(lab: Lab, language: str) -> dict[str, object]:
    return {
        "folder": lab.folder,
        "released": _moment(lab.released, language),
        "due": _moment(lab.due, language),
        "points": lab.max_points,
        "minutes": sum(blank.minutes for task in lab.tasks for blank in task.blanks),
        "wall": f"{lab.limits.wall_s:g}",
    }


def _moment(moment: datetime, language: str) -> str:
    """A day and a time, with its distance from UTC: a student may be in another zone than the course."""
    offset = f"{moment:%z}"
    hours = f"{offset[0]}{int(offset[1:3])}" + (f":{offset[3:5]}" if offset[3:5] != "00" else "")
    return f"{_MOMENT[language].format(moment, _MONTHS[moment.month - 1])} (UTC{hours})"
