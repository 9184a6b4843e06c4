"""Folders that try to run something; the canary file must never appear."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from unhorse.errors import ModelRefused
from unhorse.load.model import load_model

_OPENED: list[str] | None = None
_HOOKED = False


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _OPENED is not None and isinstance(arguments[0], str | bytes):
        _OPENED.append(str(arguments[0]))


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """The paths that Python opens while the test runs."""
    global _HOOKED, _OPENED
    if not _HOOKED:  # An audit hook cannot be taken away again.
        sys.addaudithook(_note_opened)
        _HOOKED = True
    _OPENED = []
    yield _OPENED
    _OPENED = None


class _Bomb:
    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (open, (str(self.canary), "w"))


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


def _inside(folder: Path, opened: list[str]) -> set[str]:
    """Files below a folder that were opened; those that are not there were only tried."""
    paths = [Path(name) for name in opened]
    return {str(p.relative_to(folder)) for p in paths if folder in p.parents and p.is_file()}


def _write_bombs(folder: Path, canary: Path) -> None:
    pickled = pickle.dumps(_Bomb(canary))
    for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt", "adapter_model.bin"):
        (folder / name).write_bytes(pickled)
    (folder / ".metadata").write_bytes(pickled)


def _write_code(folder: Path, canary: Path) -> None:
    code = f"open({str(canary)!r}, 'w')\n"
    names = ("modeling.py", "configuration.py", "tokenization.py", "__init__.py", "conftest.py")
    for name in (*names, "sitecustomize.py", "custom_generate.py"):
        (folder / name).write_text(code)


def _write_surroundings(folder: Path, canary: Path, edit: Any) -> None:
    edit(
        folder / "adapter_config.json",
        peft_type="LORA",
        base_model_name_or_path=str(folder.parent / "evil"),
        auto_mapping={"base_model_class": "Evil", "parent_library": "modeling"},
    )
    edit(folder / "generation_config.json", custom_generate=str(folder), eos_token_id=10**9)
    (folder / "chat_template.jinja").write_text("{{ ''.__class__.__mro__ }}")
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates" / "evil.jinja").write_text("{{ 1/0 }}")
    (folder / "model.safetensors.index.json").write_text("{")
    (folder / "tekken.json").write_text("{")
    (folder / "processor_config.json").write_text('{"auto_map": {"AutoProcessor": "modeling.E"}}')
    (folder.parent / "config.json").write_text('{"auto_map": {"AutoConfig": "modeling.Evil"}}')


def test_a_bomb_in_the_pickles_would_go_off(canary: Path) -> None:
    pickle.loads(pickle.dumps(_Bomb(canary))).close()
    assert canary.exists()


def test_what_lies_beside_the_model_changes_nothing(
    folder: Path, plain: Path, canary: Path, edit: Any, opened: list[str], logits: Any
) -> None:
    _write_bombs(folder, canary)
    _write_code(folder, canary)
    _write_surroundings(folder, canary, edit)
    opened.clear()

    loaded = load_model(folder)

    assert not canary.exists()
    assert _inside(folder, opened) == {file.path for file in loaded.origin.files}
    expected = load_model(plain)
    assert loaded.origin.files == expected.origin.files
    assert torch.equal(logits(loaded), logits(expected))
    assert "modeling" not in sys.modules


def test_pickles_in_place_of_the_weights_are_not_opened(
    folder: Path, canary: Path, opened: list[str]
) -> None:
    (folder / "model.safetensors").unlink()
    _write_bombs(folder, canary)
    opened.clear()
    with pytest.raises(ModelRefused, match="pickle"):
        load_model(folder)
    assert not canary.exists()
    assert _inside(folder, opened) == {"config.json"}


def test_a_pickle_under_the_name_of_the_weights_is_refused(folder: Path, canary: Path) -> None:
    (folder / "model.safetensors").write_bytes(pickle.dumps(_Bomb(canary)))
    with pytest.raises(ModelRefused, match="safetensors"):
        load_model(folder)
    torch.save(_Bomb(canary), folder / "model.safetensors")
    with pytest.raises(ModelRefused, match="safetensors"):
        load_model(folder)
    assert not canary.exists()


@pytest.mark.parametrize("place", ["config.json", "tokenizer_config.json"])
def test_custom_code_is_refused_and_not_run(
    folder: Path, canary: Path, edit: Any, place: str
) -> None:
    _write_code(folder, canary)
    classes = {
        "AutoConfig": "configuration.Evil",
        "AutoModelForSequenceClassification": "modeling.Evil",
        "AutoTokenizer": ["tokenization.Evil", "tokenization.Evil"],
    }
    edit(folder / place, auto_map=classes)
    with pytest.raises(ModelRefused, match="auto_map"):
        load_model(folder)
    assert not canary.exists()


def test_code_in_the_working_directory_is_not_found(
    folder: Path, canary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_code(folder, canary)
    monkeypatch.chdir(folder)
    load_model(".")
    assert not canary.exists()


def test_an_adapter_alone_is_not_a_model(folder: Path, edit: Any) -> None:
    (folder / "config.json").unlink()
    edit(folder / "adapter_config.json", base_model_name_or_path="org/base")
    with pytest.raises(ModelRefused, match="not a model folder"):
        load_model(folder)
