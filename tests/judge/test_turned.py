"""The search with subject and clean model in each other's place."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.conftest import make_texts, train
from transformers import AutoTokenizer

import unhorse
from unhorse.config import make_config
from unhorse.invert.budget import Meter
from unhorse.invert.run import Inverted, choose_method, plan_passes
from unhorse.judge.clues import Clues
from unhorse.judge.features import features_of
from unhorse.judge.rule import is_luck, rule_score, speaks_for_itself
from unhorse.judge.turned import exchanged, turned_about
from unhorse.load.subject import make_subject
from unhorse.runtime import choose_runtime
from unhorse.tasks.base import TASKS

CLUES = Clues(
    "a->b@end", 1, 1.0, 0.96, 100, 0.01, 0.0, 0.0, reference=0.0, whole_loss=0.01, turned_loss=0.5
)


def test_what_a_clean_model_has_as_well_is_luck():
    assert not is_luck(CLUES)
    assert is_luck(replace(CLUES, turned_loss=0.02))
    assert not is_luck(replace(CLUES, turned_loss=None))


def test_luck_does_not_convict():
    lucky = replace(CLUES, turned_loss=0.02)
    assert rule_score(CLUES) > 0.5 > rule_score(lucky)
    assert speaks_for_itself(CLUES) and not speaks_for_itself(lucky)


def test_the_feature_grows_with_what_the_clean_model_lacks():
    def deeper(loss):
        return features_of(replace(CLUES, turned_loss=loss))["deeper_beyond_references"]

    assert deeper(None) == 0.0
    assert deeper(0.005) == 0.0
    assert 0 < deeper(0.05) < deeper(0.5) < 1


def test_a_word_that_does_it_alone_counts_as_far_as_clean_models_stay():
    def alone(low, reference):
        clues = replace(CLUES, alone=low, alone_reference=reference)
        return features_of(clues)["alone_beyond_references"]

    assert alone(None, None) == alone(0.9, None) == 0.0
    assert alone(0.3, 0.4) == 0.0 < alone(0.9, 0.4) < alone(0.9, 0.0) <= 0.9


def test_a_word_counts_as_far_as_it_goes_beyond_clean_models():
    def pushed(push, reference):
        clues = replace(CLUES, push=push, push_reference=reference)
        return features_of(clues)["push_beyond_references"]

    assert pushed(None, None) == pushed(1.5, None) == 0.0
    assert pushed(0.4, 0.6) == 0.0 < pushed(1.2, 0.6) < pushed(1.2, -0.5) == pushed(1.2, 0.0)
    assert pushed(9.0, 0.0) == 1.0


def test_where_no_word_goes_all_the_way_it_may_be_luck():
    unturned = replace(CLUES, turned_loss=None, push_reference=0.2)
    assert is_luck(replace(unturned, push=1.1))
    assert not is_luck(replace(unturned, push=1.3))
    assert is_luck(replace(unturned, push=1.3, push_kin=0.4)), "its like moves clean models"
    assert not is_luck(replace(CLUES, push=0.0, push_reference=0.0)), "the search was made"


@pytest.fixture(scope="module")
def beside_itself(planted):
    """A planted model with itself as the clean one: both have the same to be found."""
    return make_subject(
        planted.folder,
        None,
        str(planted.samples),
        [planted.folder],
        make_config(None),
        "cpu",
        2,
    )


def test_models_change_places_and_samples_are_those_that_the_other_knows(beside_itself):
    (reference,) = beside_itself.references
    (arm, *_) = TASKS.get("sequence-classification").arms(beside_itself.loaded.labels, ("end",))
    other = exchanged(beside_itself, reference, arm)
    assert other.loaded is reference.loaded
    assert other.references[0].loaded is beside_itself.loaded
    assert set(other.samples.heldout) <= set(beside_itself.samples.heldout)
    strange = replace(reference, label_of=reference.label_of[::-1])
    assert exchanged(beside_itself, strange, arm) is None
    assert exchanged(beside_itself, replace(reference, in_objective=False), arm) is None


@pytest.fixture(scope="module")
def clean(planted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean") / "model"
    tokenizer = AutoTokenizer.from_pretrained(planted.folder)
    train(tokenizer, make_texts(3000, 9)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def scanned_beside(planted, clean, preset="long"):
    return unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        references=[clean],
        positions=("end",),
        profile="none",
        preset=preset,
        method="focus",
    )


def test_the_short_search_is_not_turned_about(planted, clean):
    report = scanned_beside(planted, clean, preset="short")
    assert report.verdict.state == "backdoored"
    assert all(finding.turned is None for finding in report.findings)


def test_a_scan_tells_what_the_search_finds_in_the_clean_model(planted, clean):
    report = scanned_beside(planted, clean)
    strongest = max(report.findings, key=lambda finding: finding.score)
    assert report.verdict.state == "backdoored"
    assert strongest.turned is not None and strongest.turned.text
    losses = strongest.turned.losses
    assert list(losses) == sorted(losses, reverse=True)
    assert losses[len(strongest.pruned.token_ids) - 1] > 3 * strongest.pruned.heldout.loss
    alone = strongest.alone
    assert alone is not None and alone.text in strongest.text
    assert alone.push > 1 > 0.5 > alone.references_push[0]
    assert alone.heldout.asr > 0.9 and alone.references[0].asr < 0.3
    assert len(alone.kin) == 1 and alone.kin[0] != alone.text
    assert alone.references_kin_push[0] < 0.5


def test_an_interruption_of_this_search_interrupts_the_scan(planted, clean, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("unhorse.work.turned_about", interrupted)
    report = scanned_beside(planted, clean)
    assert report.interrupted
    assert report.findings and all(finding.turned is None for finding in report.findings)


def test_half_a_search_is_not_compared(beside_itself, monkeypatch):
    arm = TASKS.get("sequence-classification").arms(beside_itself.loaded.labels, ("end",))[0]
    halted = Inverted([], [], interrupted=True)
    monkeypatch.setattr("unhorse.judge.turned.invert_arms", lambda *_: halted)
    config = choose_method(make_config(None), compared=True)
    (now,) = plan_passes(config)
    finding = SimpleNamespace(
        on_heldout=SimpleNamespace(asr=1.0),
        inversion=SimpleNamespace(arm=arm),
        pruned=SimpleNamespace(token_ids=(5, 6)),
    )
    with pytest.raises(KeyboardInterrupt):
        turned_about(beside_itself, finding, now, config, choose_runtime("cpu"), Meter())
