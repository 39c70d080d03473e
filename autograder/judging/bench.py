"""A submission's sandboxes: one for its modules, and one for each file of kernels, where no module runs."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from autograder.sandbox.client import NO_NOTEBOOK, Kernels, Notebook

from .kernels import Built
from .subject import Sandbox, Subject


class Bench:
    """What checks run on; a context manager. Raises: SandboxError, as `of` does.

    `built`: each file of kernels; `problems`: why one can't be used.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        files: dict[str, str],
        programs: str,
        modules: list[str],
        built: Mapping[str, Built],
        notebook: Notebook = NO_NOTEBOOK,
    ) -> None:
        self._sandbox, self._files, self._programs, self.built = sandbox, files, programs, built
        fast = {name: data for one in built.values() for name, data in one.fast.items()}
        self.modules = Subject(sandbox, files, programs, modules, Kernels(fast), notebook)
        self.problems = {name: one.problem for name, one in built.items() if one.problem}
        self.modules.kernels_problem = next(iter(self.problems.values()), None)
        self._kernels: dict[str, Subject] = {}

    def of(self, launched: str) -> Subject:
        """Where the programs of a file of kernels run; "" for those of modules."""
        if not launched:
            return self.modules
        if launched not in self._kernels:
            one = self.built[launched]
            kernels = Kernels(one.fast | one.checked, launched)
            only = {launched: self._files[launched]}
            self._kernels[launched] = Subject(self._sandbox, only, self._programs, [], kernels)
        return self._kernels[launched]

    def compiled_texts(self) -> dict[str, str]:
        """The files of kernels that can be used."""
        return {name: self._files[name] for name in self.built if name not in self.problems}

    def close(self) -> None:
        """Nothing of it stays."""
        for subject in (self.modules, *self._kernels.values()):
            subject.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()
