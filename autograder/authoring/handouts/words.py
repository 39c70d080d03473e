"""The theme's own words in Chinese, where Sphinx's catalogue has none."""

from gettext import NullTranslations

from sphinx.application import Sphinx

_CHINESE = {
    "Back to top": "回到顶部",
    "On this page": "本页目录",
    "Skip to content": "跳到正文",
}


class _Chinese(NullTranslations):
    def gettext(self, message: str) -> str:
        return _CHINESE.get(message.strip(), message)


def _add_words(app: Sphinx) -> None:
    if app.config.language == "zh_CN":
        app.translator.add_fallback(_Chinese())


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("builder-inited", _add_words, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
