"""Whether a file's bytes are UTF-8 text, and what they probably are instead."""

from labkit.messages import Message


def encoding_problem(data: bytes, name: str) -> Message | None:
    """What keeps a file from being UTF-8 text, if anything does."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        encoding = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else _guess(data)
        if encoding:
            return Message("intake.encoding", {"file": name, "line": line, "encoding": encoding})
        return Message("intake.not-utf8", {"file": name, "line": line})
    if b"\0" in data:
        line = data[: data.index(0)].count(b"\n") + 1
        return Message("intake.zero-byte", {"file": name, "line": line})
    return None


def _guess(data: bytes) -> str:
    try:
        data.decode("gbk")
    except UnicodeDecodeError:
        return ""
    return "GBK"
