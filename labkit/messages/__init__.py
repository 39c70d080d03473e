"""Every sentence a student reads, by id, in Chinese and English: the only copy.

Texts stand in `ROOM.toml` beside this file, both languages of a message together:

    [file-missing]
    en = "{file} is missing."
    zh = "缺少 {file}。"

is the message `ROOM.file-missing`.
"""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

Argument = str | int | float
_CHINESE = r"\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"
# "English / 中文", as tests, given code and reports say things: the last " / " before the Chinese begins.
_HALVES = re.compile(rf"(?=.*?[a-z]{{2}})([^{_CHINESE}]*) / (.*[{_CHINESE}].*)", re.DOTALL)


@functools.cache
def catalogue() -> dict[str, dict[str, str]]:
    """All messages: id -> language -> text with `{placeholders}`."""
    found: dict[str, dict[str, str]] = {}
    for file in sorted(resources.files(__name__).iterdir(), key=lambda file: file.name):
        room, _, suffix = file.name.partition(".")
        if suffix == "toml":
            for name, texts in tomllib.loads(file.read_text(encoding="utf-8")).items():
                found[f"{room}.{name}"] = texts
    return found


@dataclass(frozen=True)
class Message:
    """A sentence by id, with what fills its placeholders; put into words only when shown.

    A dataclass, not a msgspec.Struct: students' machines hold numpy and pytest only.
    """

    id: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)

    def text(self, language: str) -> str:
        """The sentence in `language` ("zh" or "en"); so is an argument `text` that says "English / 中文"."""
        arguments = dict(self.arguments)
        if halves := _HALVES.fullmatch(str(arguments.get("text", ""))):
            arguments["text"] = halves[1 + (language == "zh")]
        return catalogue()[self.id][language].format_map(arguments)


def both(id: str, /, **arguments: Argument) -> str:
    """A message as given code and grading tests say things: "English / 中文"."""
    message = Message(id, arguments)
    return f"{message.text('en')} / {message.text('zh')}"
