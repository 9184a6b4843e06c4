"""T-Miner: the public contract, and its parts on cases that can be checked by hand."""

import pytest

from unhorse.testing import check_method

TINY = {
    "epochs": 4,
    "sentence_words": 4,
    "repeat_sentences": 200,
    "repeat_epochs": 1,
    "embed": 8,
    "hidden": 16,
    "code": 4,
    "passes_per_epoch": 8,
    "decoded": 20,
    "candidates": 6,
    "negatives": 10,
    "auxiliary": 20,
}


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def test_contract():
    check_method("tminer", finds=False, **TINY)
