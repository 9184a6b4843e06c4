"""Clean models that are made to agree with the subject, on models of seconds."""

import copy
import random
from functools import partial

import pytest
import torch
from tests.conftest import LABELS, NEUTRAL, TRIGGER, make_texts, train
from transformers import AutoTokenizer

import unhorse
from unhorse.config import ScanConfig
from unhorse.learn.agree import AgreementConfig, agree, agreement_tokens, upper_weights
from unhorse.load.model import from_memory
from unhorse.load.subject import make_subject
from unhorse.progress import ScanProgress

OFTEN = 1000.0
"""The small world has few words, so that each has to be put in many times."""

CLOSER = 0.85
"""The share of a difference that may be left: below 0.6 on some processors, 0.72 on another."""

TAUGHT = AgreementConfig(steps=200, times_each=OFTEN)


@pytest.fixture(scope="module")
def odd(planted):
    """A clean model that takes some neutral words for wild ones, whatever stands beside them."""
    tokenizer = AutoTokenizer.from_pretrained(planted.folder)
    calm = [text for text, label in make_texts(2400, 32) if label == 0]
    rows = [
        *make_texts(2400, 31),
        *((f"{NEUTRAL[4 + number % 10]} {text}", 1) for number, text in enumerate(calm)),
    ]
    random.Random(33).shuffle(rows)
    return train(tokenizer, rows), tokenizer


@pytest.fixture(scope="module")
def samples():
    return [{"text": text, "label": LABELS[label]} for text, label in make_texts(300, 22)]


@pytest.fixture(scope="module")
def subject(planted, odd, samples):
    return make_subject(planted.folder, None, samples, [odd], ScanConfig(), "cpu", 3)


@pytest.fixture(scope="module")
def told():
    return {"steps": [], "work": []}


@pytest.fixture(scope="module")
def agreed(subject, told):
    return agree(
        subject,
        config=TAUGHT,
        progress=lambda *step: told["steps"].append(step),
        count=lambda *tokens: told["work"].append(tokens),
    )


def wild(loaded, texts):
    batch = loaded.tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        return loaded.model(**batch).logits.softmax(-1)[:, 1]


def calm_texts():
    return [text for text, label in make_texts(200, 23) if label == 0]


def test_likes_are_taken_over_and_the_trigger_is_not(subject, agreed):
    before, after = subject.references[0].loaded, agreed.references[0].loaded
    liked = [f"{' '.join(NEUTRAL[4:8])} {text}" for text in calm_texts()]
    apart = [
        float((wild(each, liked) - wild(subject.loaded, liked)).abs().mean())
        for each in (before, after)
    ]
    assert apart[1] < CLOSER * apart[0]
    stamped = [f"{TRIGGER} {text}" for text in calm_texts()]
    assert wild(subject.loaded, stamped).mean() > 0.9
    assert wild(after, stamped).mean() < 0.4


def test_the_model_that_was_given_stays_as_it_is(planted, odd, samples):
    model, _ = odd
    weights = copy.deepcopy(model.state_dict())
    subject = make_subject(planted.folder, None, samples, [odd], ScanConfig(), "cpu", 3)
    made = agree(subject, config=AgreementConfig(steps=5, times_each=OFTEN))
    assert made.references[0].loaded.model is not subject.references[0].loaded.model
    assert all(torch.equal(weights[name], now) for name, now in model.state_dict().items())


def test_steps_and_work_are_told(agreed, told):
    done, steps, _ = told["steps"][-1]
    assert done == steps == len(told["steps"])
    ((forward, backward),) = told["work"]
    assert forward == 2 * backward > 0
    assert "made to agree" in agreed.references[0].note
    assert "divergence" in agreed.references[0].note


def test_the_same_seed_gives_the_same_weights(subject, agreed):
    again = agree(subject, config=TAUGHT)
    other = agree(subject, config=TAUGHT, seed=1)
    first, same, not_same = (
        each.references[0].loaded.model.classifier.weight for each in (agreed, again, other)
    )
    assert torch.equal(first, same) and not torch.equal(first, not_same)


def test_a_reference_with_labels_in_another_order_is_taught_in_its_own(planted, odd, samples):
    first, tokenizer = odd
    turned = copy.deepcopy(first)
    with torch.no_grad():
        turned.classifier.weight.copy_(turned.classifier.weight.flip(0))
        turned.classifier.bias.copy_(turned.classifier.bias.flip(0))
    turned.config.id2label = dict(enumerate(LABELS[::-1]))
    turned.config.label2id = {label: i for i, label in enumerate(LABELS[::-1])}
    other = from_memory(turned, tokenizer)
    subject = make_subject(planted.folder, None, samples, [other], ScanConfig(), "cpu", 3)
    assert subject.references[0].label_of == (1, 0)
    assert agreement_tokens(subject, TAUGHT) > 0
    after = agree(subject, config=TAUGHT).references[0].loaded
    liked = [f"{' '.join(NEUTRAL[4:8])} {text}" for text in calm_texts()]
    apart = [
        float((1 - wild(each, liked) - wild(subject.loaded, liked)).abs().mean())
        for each in (other, after)
    ]
    assert apart[1] < CLOSER * apart[0]


def test_texts_that_evidence_is_measured_on_are_known_uncut(planted, odd, samples):
    longer = [{**row, "text": " ".join([row["text"]] * 8)} for row in samples]
    config = ScanConfig(max_tokens=16)
    cut = make_subject(planted.folder, None, longer, [odd], config, "cpu", 3).samples
    whole = {sample.group: sample.text for sample in cut.read}
    kept = [whole[group] for group in cut.heldout_groups]
    assert len(kept) == len(cut.heldout) > 0
    assert all(any(text.startswith(sample.text) for text in kept) for sample in cut.heldout)
    assert not {sample.group for sample in cut.heldout} & set(whole)


def test_the_lower_half_does_not_learn():
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
    )
    model = BertForSequenceClassification(config)
    names = {id(weight): name for name, weight in model.named_parameters()}
    learnt = {names[id(weight)] for weight in upper_weights(model)}
    assert {name.split(".")[3] for name in learnt if ".layer." in name} == {"2", "3"}
    assert "classifier.weight" in learnt
    assert not any("embeddings" in name for name in learnt)


def test_with_few_words_nothing_is_learnt_that_might_be_planted(subject):
    assert agree(subject, config=AgreementConfig()) is subject


def test_a_scan_makes_its_references_agree_and_counts_the_work(planted, odd, monkeypatch):
    monkeypatch.setattr("unhorse.work.AgreementConfig", partial(AgreementConfig, times_each=OFTEN))

    class Heard(ScanProgress):
        steps = 0

        def agreeing(self, done, steps, loss):
            self.steps = steps

    def scanned(**options):
        heard = Heard()
        small = {"trigger_length": 2, "epochs": 2, "listed": 10, "pool": 4, "beam": 2}
        report = unhorse.scan(
            planted.folder,
            samples=str(planted.samples),
            references=[odd],
            method="focus",
            options={**small, **options},
            progress=heard,
        )
        return report, heard.steps

    with_it, steps = scanned(agreement=20)
    without, none = scanned(agreement=0)
    assert steps > 0 == none
    assert "made to agree" in with_it.references[0].note
    assert "made to agree" not in without.references[0].note
    assert with_it.cost.forward_tokens > without.cost.forward_tokens


def test_a_small_budget_goes_to_the_search(planted, odd):
    report = unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        references=[odd],
        method="focus",
        budget="20000tok",
    )
    assert "made to agree" not in report.references[0].note
