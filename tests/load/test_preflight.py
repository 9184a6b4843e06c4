from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from unhorse.errors import ModelRefused
from unhorse.load.files import INDEX, parse_object
from unhorse.load.model import load_model

JSON_FILES = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
]
BAD_JSON = {
    "malformed": b"{",
    "empty": b"",
    "a list": b"[]",
    "not UTF-8": b'{"a": "\xff"}',
    "deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "nested": b'{"a":' + b'{"b":' * 200 + b"1" + b"}" * 201,
    "a huge number": b'{"a": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("content", BAD_JSON.values(), ids=BAD_JSON.keys())
@pytest.mark.parametrize("name", JSON_FILES)
def test_bad_json_is_refused_in_one_sentence(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(ModelRefused) as refusal:
        load_model(folder)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", JSON_FILES)
def test_a_file_that_is_too_large_is_refused_without_reading_it_all(
    folder: Path, name: str
) -> None:
    with (folder / name).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ModelRefused, match=f"{name} is larger"):
        load_model(folder)


@pytest.mark.parametrize("name", [*JSON_FILES, "vocab.txt", "model.safetensors"])
def test_a_pipe_or_folder_in_place_of_a_file_is_refused_at_once(folder: Path, name: str) -> None:
    for make in (os.mkfifo, os.mkdir):
        (folder / name).unlink(missing_ok=True)
        make(folder / name)
        with pytest.raises(ModelRefused, match=f"{name} in the model folder is not a regular"):
            load_model(folder)


def test_a_device_in_place_of_a_file_is_refused_at_once(folder: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("/dev/zero")
    with pytest.raises(ModelRefused, match="not a regular file"):
        load_model(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"auto_map": {"AutoModel": "modeling.Evil"}}, "auto_map"),
        ({"sub": {"auto_map": {"AutoConfig": "a--b.Evil"}}}, "auto_map"),
        ({"custom_pipelines": {"x": {"impl": "evil.Pipeline"}}}, "custom_pipelines"),
        ({"quantization_config": {"quant_method": "bitsandbytes"}}, "quantised"),
        ({"compression_config": {"format": "x"}}, "quantised"),
        ({"transformers_weights": "other.safetensors"}, "another weights file"),
        ({"configuration_files": ["config.5.0.0.json"]}, "another config file"),
        ({"fusion_config": {"patch_embeddings": True}}, "patch model classes"),
        ({"attn_implementation": "evil/kernel"}, "kernel from the hub"),
        ({"_attn_implementation": {"": "flash|evil/kernel@main:f"}}, "kernel from the hub"),
        ({"experts_implementation": "evil/kernel"}, "kernel from the hub"),
        ({"__class__": "x"}, "redefines __class__"),
        ({"to_dict": 1}, "redefines to_dict"),
        ({"model_type": "made-up"}, "made-up"),
        ({"model_type": ["bert"]}, "model type"),
        ({"tokenizer_class": 7}, "tokenizer_class"),
    ],
)
def test_a_config_that_asks_for_more_is_refused_by_name(
    folder: Path, edit: Any, changes: dict[str, Any], message: str
) -> None:
    edit(folder / "config.json", **changes)
    with pytest.raises(ModelRefused, match=message):
        load_model(folder)


@pytest.mark.parametrize(
    "value", [["evil.Slow", "evil.Fast"], {"AutoTokenizer": ["evil.Slow", None]}]
)
def test_a_tokenizer_config_that_asks_for_code_is_refused(
    folder: Path, edit: Any, value: Any
) -> None:
    edit(folder / "tokenizer_config.json", auto_map=value)
    with pytest.raises(ModelRefused, match="auto_map"):
        load_model(folder)


def test_settings_of_how_to_run_change_nothing(
    folder: Path, edit: Any, plain: Path, logits: Any
) -> None:
    edit(
        folder / "config.json",
        attn_implementation="flash_attention_2",
        dtype="load",
        torch_dtype="bfloat16",
        output_attentions=True,
        output_hidden_states=True,
        return_dict=False,
        torchscript=True,
        gradient_checkpointing=True,
        attribute_map={"hidden_size": "num_hidden_layers"},
        base_model_tp_plan={"*": "evil"},
        auto_map=None,
        quantization_config=None,
    )
    loaded = load_model(folder)
    assert logits(loaded).equal(logits(load_model(plain)))
    assert loaded.model.config._attn_implementation == "sdpa"


def test_a_label_may_be_called_like_a_key(folder: Path, edit: Any) -> None:
    names = ["auto_map", "dtype", "to_dict"]
    edit(
        folder / "config.json",
        id2label={str(index): name for index, name in enumerate(names)},
        label2id={name: index for index, name in enumerate(names)},
    )
    assert load_model(folder).labels == tuple(names)


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 10**9},
        {"num_labels": 10**9, "id2label": None, "label2id": None},
        {"vocab_size": 10**12},
        {"hidden_size": 10**9},
        {"max_position_embeddings": 10**9},
        {"intermediate_size": 60_000},
        {"num_hidden_layers": 60_000},
        {"num_hidden_layers": 3},
        {"num_hidden_layers": 1e9},
        {"num_hidden_layers": "1000000000"},
        {"num_attention_heads": 0},
        {"num_attention_heads": 3},
        {"type_vocab_size": 10**400},
        {"anything": [[{"deep": 10**15}]]},
        {"pad_token_id": 10**8},
        {"hidden_act": "no such function"},
    ],
    ids=str,
)
def test_sizes_that_do_not_fit_the_tensors_are_refused_fast(
    folder: Path, edit: Any, plain: Path, changes: dict[str, Any]
) -> None:
    load_model(plain)  # The library imports its parts on first use.
    edit(folder / "config.json", **changes)
    start = time.process_time()
    with pytest.raises(ModelRefused) as refusal:
        load_model(folder)
    assert time.process_time() - start < 1
    assert "\n" not in str(refusal.value)


def test_a_tensor_without_elements_does_not_raise_the_bound(
    folder: Path, edit: Any, edit_tensors: Any
) -> None:
    edit_tensors(folder, lambda tensors: tensors.update(bait=torch.zeros(10**9, 0)))
    edit(folder / "config.json", num_hidden_layers=10**9)
    with pytest.raises(ModelRefused, match="num_hidden_layers"):
        load_model(folder)


def test_messages_carry_no_control_characters(folder: Path, edit: Any) -> None:
    edit(folder / "config.json", model_type="\x1b]0;owned\x07\x9b31m\u202e\nsecond line")
    with pytest.raises(ModelRefused) as refusal:
        load_model(folder)
    assert str(refusal.value).isprintable()


def test_parse_object_keeps_plain_values() -> None:
    raw = json.dumps({"a": [1, None, {"b": 2.5}]}).encode()
    assert parse_object(INDEX, raw) == {"a": [1, None, {"b": 2.5}]}
