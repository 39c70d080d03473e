"""The handouts' site: `build` makes it; beside it are the Sphinx extensions that handouts/conf.py names."""

from .build import BOOKS, build

__all__ = ["BOOKS", "build"]
