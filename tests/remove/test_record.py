"""The true trigger of a model that unhorse built itself."""

import pytest

import unhorse
from unhorse.attack.build import build
from unhorse.attack.recipe import make_recipe
from unhorse.attack.record import read_heldout
from unhorse.attack.worlds import world
from unhorse.remove.contract import PLANTED

SCAN = {"preset": "released", "options": {"epochs": 10, "trigger_length": 2}}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("built")
    recipe = make_recipe(PLANTED)
    record = build(recipe, root / "planted")
    build(recipe.twin(harmless_words=False), root / "twin")
    return root, record


def remove(root, record, samples, **changes):
    return unhorse.remove_backdoor(
        root / "planted" / "model",
        samples=samples,
        trigger=record.trigger,
        victim=record.victim,
        target=record.target,
        attack_record=root / "planted" / "attack.json",
        scan=SCAN,
        **changes,
    )


def test_its_success_before_and_after_is_measured(built):
    root, record = built
    samples = [row.sample() for row in world(record.task).rows(200, "test")]
    found = remove(root, record, samples).report.true_trigger
    assert found.text == record.trigger
    assert found.before.asr == pytest.approx(record.measured.asr)
    assert found.after.asr < 0.2


def test_what_it_is_measured_on_is_never_learnt(built, monkeypatch):
    root, record = built
    heldout, _ = read_heldout(root / "planted", record.task)
    samples = [(sample.text, record.recipe.data.labels[sample.label]) for sample in heldout]
    learnt = []

    def stop(self, case, config):
        learnt.extend(case.rows.train)
        raise KeyboardInterrupt

    monkeypatch.setattr("unhorse.remove.methods.unlearn.Unlearning.remove", stop)
    with pytest.raises(unhorse.UsageError, match="none is left to learn from"):
        remove(root, record, samples)
    assert not learnt


def test_the_record_of_another_model_is_refused(built):
    root, record = built
    with pytest.raises(unhorse.ModelRefused, match="another model"):
        unhorse.remove_backdoor(
            root / "twin" / "model",
            trigger=record.trigger,
            victim=record.victim,
            target=record.target,
            attack_record=root / "planted" / "attack.json",
        )
