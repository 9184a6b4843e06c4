from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BartConfig,
    BartForSequenceClassification,
    BertForSequenceClassification,
    GPTJConfig,
    GPTJForSequenceClassification,
)

from unhorse.errors import ModelRefused
from unhorse.load.model import load_model


@pytest.fixture
def sharded(save: Any, bert: Any) -> Path:
    folder: Path = save(bert, max_shard_size="2KB")
    assert (folder / "model.safetensors.index.json").exists()
    return folder


@pytest.mark.parametrize(
    "name",
    ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "a.pt", "a.pth", "a.ckpt", "a.PKL"],
)
def test_pickles_alone_are_refused_by_name(folder: Path, name: str) -> None:
    (folder / "model.safetensors").rename(folder / name)
    with pytest.raises(ModelRefused, match=f"pickle.*{name}"):
        load_model(folder)


def test_no_weights_at_all_are_refused(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelRefused, match="no weights"):
        load_model(folder)


def test_shards_load_to_the_same_model(sharded: Path, plain: Path, logits: Any) -> None:
    loaded = load_model(sharded)
    assert logits(loaded).equal(logits(load_model(plain)))
    names = [file.path for file in loaded.origin.files]
    assert "model.safetensors.index.json" in names
    assert set(names) == {file.name for file in sharded.iterdir()}


@pytest.mark.parametrize(
    "shard",
    ["../model-1-of-2.safetensors", "/model-1-of-2.safetensors", "pytorch_model.bin", "a/b", 7],
)
def test_an_index_that_names_another_file_is_refused(sharded: Path, shard: Any) -> None:
    index = sharded / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["weight_map"]["classifier.weight"] = shard
    index.write_text(json.dumps(content))
    with pytest.raises(ModelRefused, match="not the name of a shard"):
        load_model(sharded)


@pytest.mark.parametrize("weight_map", [None, {}, [], {"x": "model-9-of-9.safetensors"}])
def test_an_index_without_its_shards_is_refused(sharded: Path, edit: Any, weight_map: Any) -> None:
    edit(sharded / "model.safetensors.index.json", weight_map=weight_map)
    with pytest.raises(ModelRefused, match=r"weight_map|missing"):
        load_model(sharded)


def test_a_tensor_in_two_shards_is_refused(sharded: Path) -> None:
    shards = sorted(sharded.glob("model-*.safetensors"))
    first, second = (load_file(shard) for shard in shards[:2])
    save_file(second | dict([next(iter(first.items()))]), shards[1], metadata={"format": "pt"})
    with pytest.raises(ModelRefused, match="in two files"):
        load_model(sharded)


def test_a_tensor_in_another_shard_than_the_index_says_is_refused(sharded: Path, edit: Any) -> None:
    file = sharded / "model.safetensors.index.json"
    places = json.loads(file.read_text())["weight_map"]
    edit(file, weight_map=places | {"made_up": places["classifier.weight"]})
    with pytest.raises(ModelRefused, match="made_up"):
        load_model(sharded)


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_truncated_weights_are_refused(folder: Path, keep: int) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(ModelRefused, match="cannot be read as safetensors"):
        load_model(folder)


@pytest.mark.parametrize(
    "header",
    [
        b"not json",
        b'{"a": {"dtype": "F32", "shape": [1000000], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [18446744073709551615, 4], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "EVIL", "shape": [1], "data_offsets": [0, 4]}}',
    ],
)
def test_a_malformed_header_is_refused(folder: Path, header: bytes) -> None:
    (folder / "model.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header + b"\0" * 4
    )
    with pytest.raises(ModelRefused, match="cannot be read as safetensors"):
        load_model(folder)


def test_a_header_that_claims_to_be_huge_is_refused(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((1 << 62).to_bytes(8, "little") + b"{}")
    with pytest.raises(ModelRefused, match="cannot be read as safetensors"):
        load_model(folder)


def test_weights_without_the_trained_head_are_refused(folder: Path, edit_tensors: Any) -> None:
    edit_tensors(folder, lambda tensors: tensors.pop("classifier.weight"))
    with pytest.raises(ModelRefused, match=r"classifier\.weight is missing"):
        load_model(folder)


def test_missing_tensors_cannot_make_loading_allocate_more_than_the_file_holds(
    folder: Path, edit: Any, edit_tensors: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_layers(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if ".layer." in name]:
            del tensors[name]

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("loading started")

    monkeypatch.setattr(BertForSequenceClassification, "from_pretrained", fail)
    edit_tensors(folder, without_layers)
    edit(folder / "config.json", intermediate_size=60_000)
    with pytest.raises(ModelRefused, match=r"have no tensor bert\.encoder\.layer"):
        load_model(folder)


def test_tables_far_larger_than_the_weights_are_refused(
    save: Any, edit: Any, sizes: dict[str, Any]
) -> None:
    config = GPTJConfig(
        vocab_size=sizes["vocab_size"],
        n_embd=8,
        n_layer=1,
        n_head=2,
        n_positions=24,
        rotary_dim=4,
        num_labels=3,
        bos_token_id=2,
        eos_token_id=3,
    )
    folder = save(GPTJForSequenceClassification(config))
    assert load_model(folder).max_length == 24
    edit(folder / "config.json", n_positions=1 << 30)
    with pytest.raises(ModelRefused, match="tables far larger"):
        load_model(folder)


def test_extra_tensors_are_ignored(
    folder: Path, plain: Path, edit_tensors: Any, logits: Any
) -> None:
    edit_tensors(folder, lambda tensors: tensors.update({"cls.extra": torch.ones(3)}))
    assert logits(load_model(folder)).equal(logits(load_model(plain)))


def test_legacy_names_are_understood(
    folder: Path, plain: Path, edit_tensors: Any, logits: Any
) -> None:
    def rename(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if "LayerNorm" in name]:
            old = name.replace(".weight", ".gamma").replace(".bias", ".beta")
            tensors[old] = tensors.pop(name)

    edit_tensors(folder, rename)
    assert logits(load_model(folder)).equal(logits(load_model(plain)))


def test_legacy_names_are_compared_too(folder: Path, edit_tensors: Any) -> None:
    def shorten(tensors: dict[str, torch.Tensor]) -> None:
        tensors["bert.embeddings.LayerNorm.gamma"] = torch.ones(5)
        del tensors["bert.embeddings.LayerNorm.weight"]

    edit_tensors(folder, shorten)
    with pytest.raises(ModelRefused, match=r"LayerNorm\.gamma has the shape \[5\]"):
        load_model(folder)


def test_tied_weights_saved_once_are_enough(save: Any, sizes: dict[str, Any]) -> None:
    config = BartConfig(
        vocab_size=sizes["vocab_size"],
        d_model=8,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=12,
        decoder_ffn_dim=12,
        max_position_embeddings=24,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=3,
        num_labels=3,
    )
    folder = save(BartForSequenceClassification(config))
    assert "model.encoder.embed_tokens.weight" not in load_file(folder / "model.safetensors")
    loaded = load_model(folder)
    shared = loaded.model.model.shared.weight
    assert loaded.model.model.encoder.embed_tokens.weight is shared
    assert loaded.max_length == 24


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.float8_e4m3fn])
def test_quantised_tensors_are_refused(folder: Path, edit_tensors: Any, kind: torch.dtype) -> None:
    def quantise(tensors: dict[str, torch.Tensor]) -> None:
        tensors["classifier.weight"] = tensors["classifier.weight"].to(kind)

    edit_tensors(folder, quantise)
    with pytest.raises(ModelRefused, match="quantised"):
        load_model(folder)


def test_a_quantised_tensor_under_a_name_of_its_own_is_refused(
    folder: Path, edit_tensors: Any
) -> None:
    low = torch.zeros(4).to(torch.float8_e4m3fn)
    edit_tensors(folder, lambda tensors: tensors.update({"experts.0.w1": low}))
    with pytest.raises(ModelRefused, match="quantised"):
        load_model(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(
    folder: Path, edit_tensors: Any, value: float
) -> None:
    edit_tensors(folder, lambda tensors: tensors["classifier.bias"].fill_(value))
    with pytest.raises(ModelRefused, match=r"classifier\.bias has numbers that are not finite"):
        load_model(folder)
