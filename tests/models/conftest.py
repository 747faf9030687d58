import pytest
from package_index import PackageIndex

from models import index
from models.folders import CACHE
from models.settings import IndexSettings


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    """Tries follow each other at once, and there are as many of them."""
    monkeypatch.setattr(index, "PAUSES", tuple(0.0 for _ in index.PAUSES))


@pytest.fixture
def package_index():
    served = PackageIndex()
    yield served
    served.close()


@pytest.fixture
def settings(package_index):
    return IndexSettings(indexes=(package_index.url,), seconds=5)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The machine's folder of models, empty."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"
