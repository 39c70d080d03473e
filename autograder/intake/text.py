"""The text of a file from its bytes: UTF-8, told apart from what it is often mistaken for."""

import codecs

from autograder.intake.entries import Unusable, shown
from labkit.messages import Message

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(data: bytes, name: str) -> str:
    """The text, without a byte order mark, its lines ended by "\\n".

    Raises: Unusable, naming the likely encoding; nothing is decoded by guess.
    """
    if data.startswith(_UTF16_MARKS):
        raise Unusable(Message("intake.encoding", {"file": shown(name), "line": 1, "encoding": "UTF-16"}))
    if b"\0" in data:
        raise Unusable(_zero_bytes(data, name))
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(_not_utf8(data, error.start, name)) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _zero_bytes(data: bytes, name: str) -> Message:
    # UTF-16 without a mark: every second byte of Python code is zero.
    if max(data[::2].count(0), data[1::2].count(0)) > len(data) // 4:
        return Message("intake.encoding", {"file": shown(name), "line": 1, "encoding": "UTF-16"})
    line = data[: data.index(0)].count(b"\n") + 1
    return Message("intake.zero-byte", {"file": shown(name), "line": line})


def _not_utf8(data: bytes, start: int, name: str) -> Message:
    line = data[:start].count(b"\n") + 1
    try:
        data.decode("gbk")
    except UnicodeDecodeError:
        return Message("intake.not-utf8", {"file": shown(name), "line": line})
    return Message("intake.encoding", {"file": shown(name), "line": line, "encoding": "GBK"})
