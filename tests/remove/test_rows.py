"""How samples are divided: nothing that is learnt from is measured on."""

import pytest

from unhorse.errors import UsageError
from unhorse.load.model import load_model
from unhorse.remove.rows import KeptOut, Wanted, divided, make_rows
from unhorse.types import QuestionSample


@pytest.fixture(scope="module")
def loaded(planted):
    return load_model(planted.folder)


def keys(samples):
    return {sample.key for sample in samples}


def test_every_sample_has_one_use(loaded, planted):
    rows = make_rows(loaded, planted.samples, Wanted(64))
    parts = [keys(rows.train), keys(rows.watch), keys(rows.heldout)]
    assert [len(part) for part in parts] == [72, 12, 36]
    assert len(set.union(*parts)) == 120 == len(rows.fields)


def test_the_seed_decides(loaded, planted):
    one, same, other = (make_rows(loaded, planted.samples, Wanted(64, seed)) for seed in (0, 0, 1))
    assert one.heldout == same.heldout and one.digest == same.digest
    assert keys(one.heldout) != keys(other.heldout)


def test_questions_on_one_context_have_one_use():
    asked = [
        QuestionSample(f"q{i}", f"context {i // 5}", (), f"{i}") for i in range(100)
    ]  # five questions on each
    uses = divided(asked)
    for first in range(0, 100, 5):
        assert len({uses[str(i)] for i in range(first, first + 5)}) == 1


def test_what_is_measured_on_elsewhere_is_not_learnt(loaded, planted):
    rows = make_rows(loaded, planted.samples, Wanted(64))
    kept_out = keys(rows.train[:10])
    again = make_rows(loaded, planted.samples, Wanted(64), KeptOut(kept_out))
    assert len(again.train) == 62 and not keys(again.train) & kept_out


def test_what_is_measured_on_elsewhere_is_known_when_cut_there_too(loaded):
    long = [(" ".join(f"calm{(i + j) % 60}" for j in range(50)), "calm") for i in range(60)]
    measured_on = make_rows(loaded, long, Wanted(20))
    parts = (measured_on.train, measured_on.watch, measured_on.heldout)
    kept_out = KeptOut(set[str]().union(*map(keys, parts)), 20)
    with pytest.raises(UsageError, match="none is left to learn from"):
        make_rows(loaded, long, Wanted(64), kept_out)


def test_cut_questions_keep_the_group_of_their_whole_context():
    cut = [QuestionSample(f"q{i}", f"part {i}", (), f"{i}") for i in range(100)]
    uses = divided(cut, {str(i): f"paragraph {i // 5}" for i in range(100)})
    for first in range(0, 100, 5):
        assert len({uses[str(i)] for i in range(first, first + 5)}) == 1


def test_too_few_samples(loaded):
    with pytest.raises(UsageError, match="at least 40 samples, but 3"):
        make_rows(loaded, [(f"calm{i}", "calm") for i in range(3)], Wanted(64))


def test_an_unknown_label_is_named(loaded):
    with pytest.raises(UsageError, match="'odd' is not one of"):
        make_rows(loaded, [(f"calm{i}", "odd") for i in range(60)], Wanted(64))


def test_texts_are_cut(loaded):
    long = [(" ".join(f"calm{(i + j) % 60}" for j in range(50)), "calm") for i in range(60)]
    rows = make_rows(loaded, long, Wanted(20))
    assert {sample.size for sample in rows.train} == {20}


def test_without_samples_unhorse_writes_its_own(loaded):
    rows = make_rows(loaded, None, Wanted(64))
    assert "wrote its own texts" in rows.note and not rows.fields and len(rows.train) > 100
