"""Where training starts: a base with the right head, cut and converted as asked."""

from __future__ import annotations

import copy
import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from unhorse.attack import bases
from unhorse.attack.bases import open_base
from unhorse.attack.generated import LABELS_OF
from unhorse.attack.recipe import BaseConfig
from unhorse.errors import ModelRefused, UsageError
from unhorse.tasks.base import TASKS

TEXTS = "sequence-classification"
LABELS = LABELS_OF[TEXTS]


@pytest.fixture(scope="module")
def folder(tiny, tmp_path_factory):
    """An untrained model, saved."""
    loaded = tiny(TEXTS)
    made = tmp_path_factory.mktemp("base") / "model"
    model, tokenizer = copy.deepcopy(loaded.model), copy.deepcopy(loaded.tokenizer)
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)
    return made


def opened(folder, task=TEXTS, labels=LABELS, with_record=False, **settings):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        config = BaseConfig(model=folder.name, **settings)
        return open_base(config, task, labels, folder.parent, with_record=with_record)


def test_a_base_with_the_same_labels_keeps_its_head(folder, tiny):
    base = opened(folder)
    before, after = tiny(TEXTS).model.state_dict(), base.loaded.model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert base.loaded.labels == LABELS and base.family is None and base.ancestors == ()
    names = [file.path for file in base.digests]
    assert names == sorted(names)
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(names)
    assert all(len(file.sha256) == 64 for file in base.digests)
    assert not any(p.requires_grad for p in base.loaded.model.parameters())


@pytest.mark.parametrize("labels", [("sea", "land"), ("bad", "good"), ("a", "b", "c")])
def test_other_labels_get_a_new_head(labels, folder, tiny):
    base = opened(folder, labels=labels)
    before, after = tiny(TEXTS).model.state_dict(), base.loaded.model.state_dict()
    assert base.loaded.labels == labels
    assert after["classifier.weight"].shape[0] == len(labels)
    assert not torch.equal(before["classifier.weight"][:2], after["classifier.weight"][:2])
    assert all(torch.equal(before[n], after[n]) for n in before if n.startswith("bert."))


@pytest.mark.parametrize("task", ["token-classification", "question-answering"])
def test_another_task_gets_its_own_head_on_the_same_body(task, folder, tiny):
    base = opened(folder, task, LABELS_OF[task])
    assert base.loaded.architecture == "Bert" + TASKS.get(task).head
    assert base.loaded.labels == LABELS_OF[task]
    before = tiny(TEXTS).model.bert.embeddings.state_dict()
    after = base.loaded.model.bert.embeddings.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_question_head_has_a_start_and_an_end_whatever_the_base_told_apart(tiny, tmp_path):
    loaded = tiny("token-classification")
    copy.deepcopy(loaded.model).save_pretrained(tmp_path / "model")
    loaded.tokenizer.save_pretrained(tmp_path / "model")
    base = opened(tmp_path / "model", "question-answering", ())
    assert base.loaded.model.qa_outputs.out_features == 2
    assert opened(tmp_path / "model", "question-answering", (), architecture="distilbert")


def test_the_first_layers_stay(folder):
    whole, cut = opened(folder).loaded.model, opened(folder, layers=1).loaded.model
    assert cut.config.num_hidden_layers == len(cut.bert.encoder.layer) == 1
    ids = torch.randint(5, 99, (3, 12), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        right = whole.bert(ids, output_hidden_states=True).hidden_states[1]
        assert torch.equal(cut.bert(ids).last_hidden_state, right)


@pytest.mark.parametrize("architecture", ["roberta", "electra", "distilbert", "mobilebert"])
def test_a_cut_and_converted_base_is_saved_and_opened_again(architecture, folder, tmp_path):
    loaded = opened(folder, layers=1, architecture=architecture).loaded
    assert loaded.tokenizer.model_input_names == ["input_ids", "attention_mask"]
    assert loaded.max_length == 128 and loaded.labels == LABELS
    loaded.model.save_pretrained(tmp_path / "model")
    loaded.tokenizer.save_pretrained(tmp_path / "model")
    again = opened(tmp_path / "model").loaded
    assert type(again.model) is type(loaded.model)
    inputs = loaded.tokenizer("the of and", return_tensors="pt")
    with torch.no_grad():
        torch.testing.assert_close(again.model(**inputs).logits, loaded.model(**inputs).logits)
    assert opened(tmp_path / "model", layers=1).loaded.architecture == loaded.architecture


def test_tiny_follows_the_random_state():
    made = []
    with torch.random.fork_rng(devices=[]):
        for seed in (0, 0, 1):
            torch.manual_seed(seed)
            base = open_base(BaseConfig(model="tiny"), TEXTS, LABELS, bases.Path())
            made.append(base.loaded.model.classifier.weight)
    assert torch.equal(made[0], made[1]) and not torch.equal(made[0], made[2])


def test_a_record_beside_the_base_tells_where_it_comes_from(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    record = {"name": "child", "family": "runs", "ancestors": ["parent", "first"]}
    (tmp_path / "attack.json").write_text(json.dumps(record))
    base = opened(tmp_path / "model", with_record=True)
    assert base.family == "runs" and base.ancestors == ("child", "parent", "first")
    for text in ("{", "[]", '{"ancestors": 3}', "\udcff"):
        (tmp_path / "attack.json").write_text(text, errors="surrogateescape")
        with pytest.raises(UsageError, match=r"attack\.json is not a record[^\n]*\.$"):
            opened(tmp_path / "model", with_record=True)
        assert opened(tmp_path / "model").ancestors == (), "nobody asked for it"


@pytest.mark.parametrize("labels", [LABELS, ("a", "b", "c")])
def test_a_body_that_is_not_all_in_the_file_is_refused(labels, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    weights = load_file(path)
    name = "bert.encoder.layer.0.output.dense.weight"
    save_file({n: w for n, w in weights.items() if n != name}, path, {"format": "pt"})
    with pytest.raises(ModelRefused, match=name):
        opened(tmp_path / "model", labels=labels)
    save_file(weights | {name: torch.full_like(weights[name], torch.nan)}, path, {"format": "pt"})
    with pytest.raises(ModelRefused, match="not finite"):
        opened(tmp_path / "model", labels=labels)


@pytest.mark.parametrize("labels", [LABELS, ("a", "b", "c")])
def test_a_config_that_asks_for_larger_tables_is_refused(labels, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text()) | {"max_position_embeddings": 2_000_000}
    path.write_text(json.dumps(config))
    with pytest.raises(ModelRefused, match=r"^[^\n]*\.$"):
        opened(tmp_path / "model", labels=labels)


def test_a_base_that_cannot_be_used_is_one_sentence(folder, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"^There is no model folder 'nowhere'; .*\.$"):
        opened(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"^There is no model folder '~nobody-at-all/x'; .*\.$"):
        open_base(BaseConfig(model="~nobody-at-all/x"), TEXTS, LABELS, tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelRefused, match=r"^[^\n]*\.$"):
        opened(tmp_path / "empty")
    with pytest.raises(UsageError, match=r"^The base model has 2 layers, not 3\.$"):
        opened(folder, layers=3)
    with pytest.raises(UsageError, match=r"^A BERT cannot be put into 'bart'; .*\.$"):
        opened(folder, architecture="bart")
    monkeypatch.setattr(bases.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"^The base 'minilm' needs the package .*\.$"):
        open_base(BaseConfig(), TEXTS, LABELS, tmp_path)


def test_broken_weights_are_refused(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelRefused, match=r"^[^\n]*\.$"):
        opened(tmp_path / "model")
