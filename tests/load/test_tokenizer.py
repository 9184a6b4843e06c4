from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unhorse.errors import ModelRefused
from unhorse.load.model import load_model


def _change(folder: Path, **changes: Any) -> None:
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_a_folder_without_a_tokenizer_is_refused(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelRefused, match="no tokenizer"):
        load_model(folder)


def test_a_vocabulary_alone_is_enough(folder: Path, edit: Any) -> None:
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    edit(folder / "tokenizer_config.json", tokenizer_class="BertTokenizer")
    loaded = load_model(folder)
    assert loaded.tokenizer("good film")["input_ids"] == [2, 9, 11, 3]
    assert "vocab.txt" in [file.path for file in loaded.origin.files]


@pytest.mark.parametrize(
    "name",
    ["EvilTokenizer", "os.system", "AutoModel", "BertJapaneseTokenizer", "pipeline", 7, "FastFast"],
)
@pytest.mark.parametrize("file", ["tokenizer_config.json", "config.json"])
def test_a_tokenizer_class_that_is_not_known_and_fast_is_refused(
    folder: Path, edit: Any, file: str, name: Any
) -> None:
    edit(folder / file, tokenizer_class=name)
    with pytest.raises(ModelRefused, match=r"tokenizer.class"):
        load_model(folder)


@pytest.mark.parametrize("identifier", [15, 10**6])
def test_token_ids_beyond_the_embedding_are_refused(folder: Path, identifier: int) -> None:
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    _change(folder, model=model | {"vocab": model["vocab"] | {"beyond": identifier}})
    with pytest.raises(ModelRefused, match=f"token id {identifier}"):
        load_model(folder)


def test_an_id_that_only_the_template_adds_is_checked(folder: Path) -> None:
    content = json.loads((folder / "tokenizer.json").read_text())
    content["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [999]
    _change(folder, post_processor=content["post_processor"])
    with pytest.raises(ModelRefused, match="token id 999"):
        load_model(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra_ids": 10**9},
        {"added_tokens_decoder": {"1000000000": {"content": "x"}}},
        {"added_tokens_decoder": {"-1": {"content": "x"}}},
        {"added_tokens_decoder": ["x"]},
    ],
)
def test_numbers_that_would_fill_memory_are_refused(
    folder: Path, edit: Any, changes: dict[str, Any]
) -> None:
    edit(folder / "tokenizer_config.json", **changes)
    with pytest.raises(ModelRefused, match=r"tokenizer_config\.json"):
        load_model(folder)


@pytest.mark.parametrize("identifier", [10**9, -1, 1.5, "x", None, [1]])
def test_added_tokens_under_impossible_ids_are_refused(
    folder: Path, edit: Any, identifier: Any
) -> None:
    edit(folder / "added_tokens.json", max_length=identifier)
    with pytest.raises(ModelRefused, match=r"added_tokens\.json adds a token"):
        load_model(folder)


def test_a_saved_padding_and_truncation_are_switched_off(folder: Path) -> None:
    padding = {
        "strategy": {"Fixed": 10**12},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    truncation = {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    _change(folder, padding=padding, truncation=truncation)
    loaded = load_model(folder)
    assert loaded.tokenizer.backend_tokenizer.encode("a very good film").ids == [
        2,
        14,
        13,
        9,
        11,
        3,
    ]


def test_a_panic_in_the_tokenizer_library_is_a_silent_refusal(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _change(folder, normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"})
    with pytest.raises(ModelRefused, match="tokenizer cannot be loaded"):
        load_model(folder)
    assert capfd.readouterr() == ("", "")


def test_remarks_of_the_tokenizer_library_do_not_reach_the_output(
    folder: Path, edit: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    added = {"2": {"content": "[CLS]", "made_up": True}}
    edit(folder / "tokenizer_config.json", added_tokens_decoder=added)
    load_model(folder)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("model", [None, {"type": "Evil"}, {"type": "BPE"}, []])
def test_a_malformed_tokenizer_is_refused(folder: Path, model: Any) -> None:
    _change(folder, model=model)
    with pytest.raises(ModelRefused, match="tokenizer cannot be loaded"):
        load_model(folder)


def test_a_tokenizer_that_splits_at_random_is_refused(folder: Path) -> None:
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    _change(folder, model={"type": "BPE", "dropout": 0.5, "vocab": vocabulary, "merges": []})
    with pytest.raises(ModelRefused, match="at random"):
        load_model(folder)


def test_paths_in_the_tokenizers_settings_are_not_followed(
    folder: Path, edit: Any, tmp_path: Path, plain: Path
) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text("{}")
    paths = dict.fromkeys(
        ["tokenizer_file", "vocab_file", "vocab", "merges", "gguf_file", "tokenizer_object"],
        str(elsewhere),
    )
    edit(
        folder / "tokenizer_config.json",
        **paths,
        fast_tokenizer_files=["tokenizer.1.0.json"],
        init_inputs=[str(elsewhere)],
        trust_remote_code=True,
        name_or_path="org/other",
    )
    edit(folder / "special_tokens_map.json", tokenizer_file=str(elsewhere), unk_token="[UNK]")
    assert load_model(folder).tokenizer.get_vocab() == load_model(plain).tokenizer.get_vocab()


@pytest.mark.parametrize("length", [-1, 0, 1e30, None, float("nan")])
def test_a_senseless_max_length_is_not_used(folder: Path, edit: Any, length: Any) -> None:
    edit(folder / "tokenizer_config.json", model_max_length=length)
    assert load_model(folder).max_length == 24
