from __future__ import annotations

import copy
import hashlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import OfflineModeIsEnabled
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    ModernBertConfig,
    ModernBertForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)
from transformers.utils import logging

from unhorse.errors import ModelRefused, UsageError
from unhorse.load import model as model_module
from unhorse.load.model import from_memory, load_model


def _gpt2(sizes: dict[str, Any]) -> Any:
    config = GPT2Config(
        vocab_size=sizes["vocab_size"],
        n_embd=8,
        n_layer=1,
        n_head=2,
        n_positions=24,
        num_labels=3,
        bos_token_id=2,
        eos_token_id=3,
    )
    return GPT2ForSequenceClassification(config)


def _distilbert(sizes: dict[str, Any]) -> Any:
    config = DistilBertConfig(
        vocab_size=sizes["vocab_size"],
        dim=8,
        n_layers=1,
        n_heads=2,
        hidden_dim=12,
        max_position_embeddings=24,
        num_labels=3,
    )
    return DistilBertForSequenceClassification(config)


def _roberta(sizes: dict[str, Any]) -> Any:
    changed = sizes | {"max_position_embeddings": 26, "pad_token_id": 1}
    return RobertaForSequenceClassification(RobertaConfig(**changed))


def _modernbert(sizes: dict[str, Any]) -> Any:
    ids = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3}
    ids |= {"bos_token_id": 2, "eos_token_id": 3}
    return ModernBertForSequenceClassification(ModernBertConfig(**sizes, **ids))


def test_a_loaded_model_is_ready_to_be_asked(plain: Path, bert: Any, logits: Any) -> None:
    loaded = load_model(plain)

    assert loaded.task == "sequence-classification"
    assert loaded.architecture == "BertForSequenceClassification"
    assert loaded.labels == ("LABEL_0", "LABEL_1", "LABEL_2")
    assert not loaded.model.training
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}
    assert loaded.model.config._attn_implementation == "sdpa"
    assert loaded.tokenizer.is_fast and loaded.tokenizer.padding_side == "right"
    saved = bert.state_dict()
    assert all(torch.equal(value, saved[key]) for key, value in loaded.model.state_dict().items())


def test_half_precision_is_loaded_as_fp32(save: Any, bert: Any) -> None:
    loaded = load_model(save(copy.deepcopy(bert).half()))
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}


def test_every_file_read_is_in_the_origin_with_its_digest(plain: Path) -> None:
    origin = load_model(str(plain)).origin

    assert origin.source == str(plain) and origin.revision is None
    assert [file.path for file in origin.files] == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    for file in origin.files:
        assert file.sha256 == hashlib.sha256((plain / file.path).read_bytes()).hexdigest()


@pytest.mark.parametrize("build", [_gpt2, _distilbert, _roberta, _modernbert])
def test_an_input_of_max_length_fits(build: Any, save: Any, sizes: dict[str, Any]) -> None:
    loaded = load_model(save(build(sizes)))

    assert loaded.max_length == 24
    ids = torch.full((1, loaded.max_length), 7)
    with torch.no_grad():
        answer = loaded.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
    assert answer.shape == (1, 3)


def test_the_tokenizers_own_limit_counts(folder: Path, edit: Any) -> None:
    edit(folder / "tokenizer_config.json", model_max_length=16)
    assert load_model(folder).max_length == 16


def test_gpt2_without_a_pad_token_pads_with_the_end_token(
    save: Any, sizes: dict[str, Any], tokenizer: Any
) -> None:
    own = copy.deepcopy(tokenizer)
    own.pad_token = None
    own.eos_token = "[SEP]"
    folder = save(_gpt2(sizes))
    own.save_pretrained(folder)

    loaded = load_model(folder)

    assert loaded.tokenizer.pad_token == "[SEP]"
    assert loaded.model.config.pad_token_id == loaded.tokenizer.pad_token_id == 3
    texts = ["good film", "a very good film"]
    batch = loaded.tokenizer(texts, padding=True, return_tensors="pt")
    single = loaded.tokenizer(texts[:1], return_tensors="pt")
    together = loaded.model(batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    alone = loaded.model(single["input_ids"], attention_mask=single["attention_mask"]).logits
    torch.testing.assert_close(together[:1], alone)


def test_a_missing_local_path_is_a_usage_error(tmp_path: Path) -> None:
    for missing in (tmp_path / "nowhere", "./nowhere", "~/no/such/folder", "nowhere", "a/b/c", ""):
        with pytest.raises(UsageError, match="There is no model folder"):
            load_model(missing)


@pytest.mark.parametrize("name", ["a" * 5000, "nul\0byte", "~nobody-of-that-name/x"])
def test_an_impossible_path_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError):
        load_model(name)


def test_a_folder_or_file_without_a_config_is_not_a_model_folder(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"")
    for source in (tmp_path, file):
        with pytest.raises(ModelRefused, match="not a model folder"):
            load_model(source)


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "meta:x"])
def test_a_device_that_is_not_there_is_a_usage_error(plain: Path, device: str) -> None:
    with pytest.raises(UsageError, match="device"):
        load_model(plain, device=device)


def test_a_head_without_a_task_is_refused_by_name(save: Any, sizes: dict[str, Any]) -> None:
    folder = save(BertModel(BertConfig(**sizes)))
    with pytest.raises(ModelRefused, match=r"BertModel.*ForSequenceClassification"):
        load_model(folder)


@pytest.mark.parametrize("value", [None, [], "BertForSequenceClassification", [7]])
def test_a_config_without_an_architecture_is_refused(folder: Path, edit: Any, value: Any) -> None:
    edit(folder / "config.json", architectures=value)
    with pytest.raises(ModelRefused, match="architecture"):
        load_model(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"problem_type": "multi_label_classification"},
        {"problem_type": "regression"},
        {"id2label": {"0": "only"}, "label2id": {"only": 0}},
        {"id2label": {"5": "a", "6": "b", "7": "c"}},
        {"id2label": ["a", "b", "c"]},
    ],
)
def test_labels_that_cannot_be_scanned_are_refused(
    folder: Path, edit: Any, changes: dict[str, Any]
) -> None:
    edit(folder / "config.json", **changes)
    with pytest.raises(ModelRefused):
        load_model(folder)


def test_loading_says_nothing_and_leaves_the_switches_alone(
    plain: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load_model(plain)
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
    assert capfd.readouterr() == ("", "")


def test_loading_a_folder_opens_no_connection(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    load_model(plain)


def test_the_hub_cannot_be_asked_while_a_folder_is_loaded(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = constants.is_offline_mode()
    original = model_module.check_sizes

    def ask_the_hub(*arguments: Any) -> Any:
        with pytest.raises(OfflineModeIsEnabled):
            HfApi().model_info("org/kernel")
        return original(*arguments)

    monkeypatch.setattr(model_module, "check_sizes", ask_the_hub)
    load_model(plain)
    assert constants.is_offline_mode() == before


def test_weights_do_not_follow_later_changes_of_the_file(folder: Path) -> None:
    loaded = load_model(folder)
    before = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    file = folder / "model.safetensors"
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(size // 2)
        opened.write(b"\0" * (size - size // 2))
    after = loaded.model.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_a_file_that_changes_while_it_is_read_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = model_module._detach

    def write_then_detach(model: Any) -> None:
        with (folder / "model.safetensors").open("r+b") as opened:
            opened.seek(-4, 2)
            opened.write(b"\1\2\3\4")
        original(model)

    monkeypatch.setattr(model_module, "_detach", write_then_detach)
    with pytest.raises(ModelRefused, match="changed while"):
        load_model(folder)


def test_the_staging_folder_is_gone_and_the_tokenizer_can_be_saved(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staging = tmp_path / "staging"
    staging.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(staging))
    loaded = load_model(plain)
    assert list(staging.iterdir()) == []
    assert loaded.tokenizer.name_or_path == str(plain)
    loaded.tokenizer.save_pretrained(tmp_path / "out")
    loaded.model.save_pretrained(tmp_path / "out")
    assert load_model(tmp_path / "out").labels == loaded.labels


def test_symlinked_files_load_like_in_a_hub_cache(plain: Path, tmp_path: Path) -> None:
    linked = tmp_path / "snapshot"
    linked.mkdir()
    for file in plain.iterdir():
        (linked / file.name).symlink_to(file)
    assert load_model(linked).origin.files == load_model(plain).origin.files


def test_weights_are_copied_where_links_are_not_possible(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("not permitted")

    monkeypatch.setattr(Path, "symlink_to", fail)
    assert load_model(plain).origin.files == load_model(plain).origin.files


def test_an_interrupt_and_exhausted_memory_pass_through(
    plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in (KeyboardInterrupt, MemoryError):

        def stop(*_: Any, error: type[BaseException] = kind, **__: Any) -> None:
            raise error

        monkeypatch.setattr(model_module.AutoConfig, "from_pretrained", stop)
        with pytest.raises(kind):
            load_model(plain)


def test_from_memory_leaves_the_callers_model_alone(
    sizes: dict[str, Any], tokenizer: Any, logits: Callable[[Any], torch.Tensor]
) -> None:
    own_tokenizer = copy.deepcopy(tokenizer)
    own_tokenizer.pad_token = None
    own_tokenizer.padding_side = "left"
    model = _gpt2(sizes).half().train()

    loaded = from_memory(model, own_tokenizer, source="mine")

    assert loaded.origin.source == "mine" and loaded.origin.files == ()
    assert loaded.max_length == 24
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}
    assert not loaded.model.training and loaded.model.config.pad_token_id is not None
    assert torch.isfinite(logits(loaded)).all()
    assert model.training and model.config.pad_token_id is None
    assert all(p.requires_grad and p.dtype == torch.float16 for p in model.parameters())
    assert own_tokenizer.pad_token is None and own_tokenizer.padding_side == "left"


def test_from_memory_has_the_same_rules(bert: Any, tokenizer: Any, sizes: dict[str, Any]) -> None:
    with pytest.raises(ModelRefused, match="BertModel"):
        from_memory(bert.bert, tokenizer)
    one = BertForSequenceClassification(BertConfig(**(sizes | {"num_labels": 1})))
    with pytest.raises(ModelRefused, match="one label"):
        from_memory(one, tokenizer)
    small = BertForSequenceClassification(BertConfig(**(sizes | {"vocab_size": 4})))
    with pytest.raises(ModelRefused, match="token id"):
        from_memory(small, tokenizer)
    with pytest.raises(ModelRefused, match="fast"):
        from_memory(bert, object())
