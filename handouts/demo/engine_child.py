"""Where a student's engine runs: each gradient is told as a line of JSON on stdout, as soon as it is there.

    python engine_child.py ENGINE.py REFERENCE_FOLDER

graph.py is the one beside the engine, or else the reference's.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MEMORY = 4 * 2**30  # bytes


def main(engine_file: Path, reference: Path) -> None:
    """Import, differentiate, tell."""
    _limit_memory()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what a student prints is no answer

    def tell(**event: Any) -> None:
        channel.write(json.dumps(event) + "\n")
        channel.flush()

    sys.path[:] = [str(HERE), *(path for path in sys.path if path and Path(path).resolve() != HERE)]
    importlib.import_module("cost")  # and with it programs and NumPy, before a student's folder comes first
    sys.path[:0] = [str(engine_file.parent), str(reference)]
    tell(at="import", size=0)
    try:
        graph, engine = importlib.import_module("graph"), _engine(engine_file)
    except BaseException as error:  # exit() among them
        tell(error=_short(error))
    else:
        for name, size, gradient in _gradients(graph, engine):
            tell(at=name, size=size)
            try:
                tell(**_measured(gradient))
            except BaseException as error:
                tell(error=_short(error))
    tell(at="end", size=0)
    os._exit(0)  # whatever threads a student has left behind


def _limit_memory() -> None:
    """At most 4 GiB, where the system has such limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _engine(file: Path) -> Any:
    """The module in a file of any name."""
    spec = importlib.util.spec_from_file_location("engine", file)
    assert spec
    assert spec.loader
    module = sys.modules["engine"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _gradients(graph: Any, engine: Any) -> Iterator[tuple[str, int, Callable[[], list[Any]]]]:
    """What is asked of an engine: a name, a size, and what computes the gradient."""
    import engine_trial
    import programs

    def gradient(program: Callable[[list[Any]], Any], at: Iterable[float]) -> Callable[[], list[Any]]:
        def computed() -> list[Any]:
            inputs = [graph.variable(float(value)) for value in at]
            adjoints = engine.reverse_mode(program(inputs))
            return [adjoints[node] for node in inputs]

        return computed

    def logistic(n: int) -> Callable[[list[Any]], Any]:
        return lambda inputs: programs.logistic(inputs[0], n)

    yield (
        "lecture",
        2,
        gradient(lambda x: programs.lecture(x[0], x[1], graph.log, graph.sin)[-1], engine_trial.LECTURE_AT),
    )
    for n in engine_trial.APPLICATIONS:
        yield "logistic", n, gradient(logistic(n), [engine_trial.LOGISTIC_AT])
    for size in engine_trial.PARAMETERS:
        yield "rosenbrock", size, gradient(programs.rosenbrock, programs.rosenbrock_point(size))


def _measured(gradient: Callable[[], list[Any]]) -> dict[str, Any]:
    from cost import seconds_of

    found = [float(number) for number in gradient()]
    return {"gradient": found, "seconds": seconds_of(gradient)}


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0][:160].rstrip(": ")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
