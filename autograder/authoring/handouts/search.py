"""Search in Chinese by pairs of characters; Sphinx's own finds nothing unless jieba, 19 MB, is installed."""

import re

from sphinx.application import Sphinx
from sphinx.search import languages
from sphinx.search.en import SearchEnglish

_RUN = re.compile(r"[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+")


class SearchPairs(SearchEnglish):
    """反向模式 is indexed as 反向, 向模, 模式, and the page splits what is typed in the same way."""

    lang = "zh"
    js_splitter_code = r"""
function splitQuery(query) {
  const terms = [];
  const spaced = query.replace(/[\u4e00-\u9fff]+/g, " $& ");
  for (const run of spaced.split(/[^\p{Letter}\p{Number}_]+/u).filter((run) => run)) {
    if (!/[\u4e00-\u9fff]/.test(run) || run.length < 2) terms.push(run);
    else for (let i = 0; i + 1 < run.length; i++) terms.push(run.slice(i, i + 2));
  }
  return terms;
}
"""

    def split(self, input: str) -> list[str]:
        """Words of other scripts, and every two neighbours of a run of Chinese characters."""
        found: list[str] = []
        for run in _RUN.findall(input):
            chinese = "\u4e00" <= run[0] <= "\u9fff" and len(run) > 1
            found += [run[i : i + 2] for i in range(len(run) - 1)] if chinese else [run]
        return found

    def word_filter(self, word: str) -> bool:
        """Single characters and single letters are left out."""
        return len(word) > 1


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    languages["zh"] = SearchPairs
    return {"parallel_read_safe": True, "parallel_write_safe": True}
