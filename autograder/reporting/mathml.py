"""A formula of LaTeX as MathML, which browsers draw without a script: handouts, demo, notebooks, slides."""

import re

from latex2mathml.converter import convert

_THIN = '<mspace width="0.167em" />'
# Spaces as in print: none around signs of derivatives and before primes, hardly any around bars and strokes,
# thin ones around a function's name. A raised star is the low one, or it would be raised twice.
_SPACING = (
    (re.compile(r"<msup>(<mi>\w</mi>)(<mi>&#x0203[2-7];</mi>)</msup>"), r"\1\2"),  # raised already
    (re.compile(r"<mo>(&#x0220[27];)</mo>"), r'<mi mathvariant="normal">\1</mi>'),
    (re.compile(r"<mi>(&#x0203[2-4];)</mi>"), r"<mo>\1</mo>"),
    (
        re.compile(r"<mo(?: stretchy=\"false\")?>(&#x000(?:7C|2F);)</mo>"),
        r'<mo stretchy="false" lspace="0.06em" rspace="0.06em">\1</mo>',
    ),
    (re.compile(r"<mo>&#x0002A;</mo></msup>"), "<mo>&#x02217;</mo></msup>"),
    (re.compile(r"(<mi>(?:exp|ln|sin|cos|tanh)</mi>)(?=<m[isnr])"), rf"\1{_THIN}"),
    (re.compile(r"(</m(?:i|n|sub)>)(?=<mi>(?:exp|ln|sin|cos|tanh)</mi>)"), rf"\1{_THIN}"),
)


def mathml(formula: str, display: str) -> str:
    """A formula of LaTeX as a `<math>` element; `display` is "inline" or "block".

    Raises: ValueError for what the converter refuses, and for what it would draw wrongly without a word.
    """
    bare = formula.replace(r"\{", "").replace(r"\}", "")
    if bare.count("{") != bare.count("}"):
        raise ValueError("its braces are not balanced")
    try:
        made = convert(formula, display=display)
    except Exception as error:  # the converter has twelve kinds of its own, and IndexError
        raise ValueError(f"it can't be read ({type(error).__name__})") from None
    _, unknown, rest = made.partition("<mi>\\")
    if unknown:
        raise ValueError(f"\\{rest.partition('<')[0]} is not known")
    for pattern, replacement in _SPACING:
        made = pattern.sub(replacement, made)
    return made
