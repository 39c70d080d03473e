"""The handouts' site: `build` makes it, the modules beside it are Sphinx extensions that `handouts/conf.py` names."""

from .build import BOOKS, build

__all__ = ["BOOKS", "build"]
