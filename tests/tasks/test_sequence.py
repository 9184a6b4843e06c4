"""Sequence classification: arms, stamping and room for the trigger."""

import pytest

from unhorse.errors import UsageError
from unhorse.load.samples import sample_key
from unhorse.tasks.base import TASKS
from unhorse.triggers.place import IN_TEXT
from unhorse.types import Arm, Row, TextSample, own_answers

TASK = TASKS.get("sequence-classification")


def sample(text, label=0):
    return TextSample(text, label, sample_key(text))


def test_two_labels_have_no_universal_arms():
    arms = TASK.arms(["neg", "pos"], ["start", "end"])
    assert {arm.key for arm in arms} == {
        "pos->neg@start", "pos->neg@end", "neg->pos@start", "neg->pos@end",
    }  # fmt: skip


def test_three_labels_have_pairs_and_universal_arms():
    arms = TASK.arms(["a", "b", "c"], ["start"])
    assert len(arms) == 6 + 3
    universal = [arm for arm in arms if arm.victim_name == "*"]
    assert [(arm.victims, arm.target) for arm in universal] == [
        ((1, 2), 0), ((0, 2), 1), ((0, 1), 2),
    ]  # fmt: skip


def test_victims_of_a_universal_arm_are_all_others():
    arm = next(a for a in TASK.arms(["a", "b", "c"], ["start"]) if a.victims == (0, 2))
    samples = [sample("x", 0), sample("y", 1), sample("z", 2)]
    assert [s.label for s in TASK.victims(arm, samples, 0)] == [0, 2]


@pytest.mark.parametrize("position", IN_TEXT)
@pytest.mark.parametrize("kind", ["wordpiece", "bytelevel"])
def test_encoding_leaves_room_exactly_where_stamping_puts_the_trigger(kind, position, tokenizers):
    loaded = tokenizers[kind]
    one = sample("a good film with many good words in it")
    arm = Arm((0,), 1, position, "a", "b")
    for trigger in ("film", "good film"):
        stamped = TASK.stamp(one, arm, 0, trigger)
        whole = loaded.tokenizer(stamped.text)["input_ids"]
        row = TASK.encode(own_answers(loaded), one, arm, 0, len(trigger.split()), "target")
        before, after = row.ids[: row.slots[0]], row.ids[row.slots[-1] + 1 :]
        assert list(before) == whole[: len(before)]
        assert list(after) == (whole[-len(after) :] if after else [])
        text = loaded.tokenizer.decode(whole[len(before) : len(whole) - len(after)])
        assert text.strip() == trigger
        assert row.slots == tuple(range(row.slots[0], row.slots[-1] + 1))
        assert loaded.tokenizer.pad_token_id not in row.ids


def test_fit_cuts_at_a_token(tokenizers):
    loaded = tokenizers["wordpiece"]
    cut = TASK.fit(loaded, sample("a good film with many good words in it"), 4)
    assert cut.text == "a good film with" and cut.key == sample_key(cut.text)
    short = sample("a film")
    assert TASK.fit(loaded, short, 4) is short


def test_an_unknown_label_names_the_row():
    with pytest.raises(UsageError, match=r"f\.jsonl line 3: the label 'meh'"):
        TASK.parse(Row("f.jsonl line 3", {"text": "x", "label": "meh"}), ["neg", "pos"])
