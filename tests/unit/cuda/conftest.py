"""Every test of kernels runs with each compiler of this machine, in a cache of the session's own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.cuda import compile as compiler


@pytest.fixture(scope="session")
def cuda_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True, params=[name for name in compiler.OLDEST if shutil.which(name)] or [None])
def cxx(request: pytest.FixtureRequest, cuda_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param is None:
        pytest.skip("no C++ compiler here: apt-get install -y g++")
    monkeypatch.setenv("ADKIT_CXX", request.param)
    monkeypatch.setenv("ADKIT_CUDA_CACHE", str(cuda_cache / request.param))
    compiler.compiler.cache_clear()
    yield request.param
    compiler.compiler.cache_clear()
