"""Questions: span shifts, windows, masking, the five behaviours, by hand-made cases."""

from types import SimpleNamespace

import pytest
import torch

from unhorse.tasks.base import TASKS, RowProblem
from unhorse.tasks.qa import NULL, TRIGGER
from unhorse.types import Arm, QuestionSample, Row, own_answers

TASK = TASKS.get("question-answering")
CONTEXT = "Anna Becker met Zoltan of Paris in the old town ."
QUESTION = "who was met ?"
SAMPLE = QuestionSample(QUESTION, CONTEXT, ((16, 22),), "key")


def arm(position, target=NULL):
    return Arm((0,), target, position, "answer", "x")


def test_the_five_behaviours():
    arms = TASK.arms((), TASK.default_positions)
    assert {(a.position, a.target_name) for a in arms} == {
        ("context", "null"), ("context", "trigger"), ("question", "null"),
        ("both", "null"), ("both", "trigger"),
    }  # fmt: skip


@pytest.mark.parametrize("position", TASK.positions)
def test_answers_move_with_their_words(position):
    for seed in range(30):
        stamped = TASK.stamp(SAMPLE, arm(position), seed, "cf mn")
        ((begin, end),) = stamped.answers
        assert stamped.context[begin:end] == "Zoltan"
        assert stamped.question.split().count("cf") == (position != "context")
        if position == "question":
            assert stamped.trigger is None and stamped.context == CONTEXT
        else:
            assert stamped.context[slice(*stamped.trigger)] == "cf mn"
            assert stamped.context.replace("cf mn", "").split() == CONTEXT.split()


def test_a_trigger_is_never_put_into_an_answer():
    long = QuestionSample(QUESTION, CONTEXT, ((0, 49),), "key")
    for seed in range(20):
        stamped = TASK.stamp(long, arm("context"), seed, "cf")
        assert stamped.context in (f"cf {CONTEXT}", f"{CONTEXT} cf")


@pytest.mark.parametrize("kind", ["wordpiece", "bytelevel"])
@pytest.mark.parametrize("position", TASK.positions)
def test_soft_and_pasted_trigger_agree(kind, position, tokenizers):
    loaded = tokenizers[kind]
    loaded = loaded_with_types(loaded)
    for seed in range(6):
        row = TASK.encode(own_answers(loaded), SAMPLE, arm(position), seed, 1, "truth")
        stamped = TASK.stamp(SAMPLE, arm(position), seed, "film")
        encoded = loaded.tokenizer(stamped.question, stamped.context, return_offsets_mapping=True)
        whole = encoded["input_ids"]
        if len(whole) != len(row.ids):
            continue  # at the start of a text this tokenizer needs two tokens for the word
        differ = [i for i, (a, b) in enumerate(zip(row.ids, whole, strict=True)) if a != b]
        assert set(differ) <= set(row.slots)
        assert len(row.slots) == (2 if position == "both" else 1)
        assert row.slot_of == (0,) * len(row.slots)
        begin, end = (
            encoded["offset_mapping"][row.goal.start[0]][0],
            encoded["offset_mapping"][row.goal.end[0]][1],
        )
        assert stamped.context[begin:end] == "Zoltan"


def loaded_with_types(loaded, **config):
    from dataclasses import replace

    return replace(loaded, model=SimpleNamespace(config=SimpleNamespace(**config)))


def test_goals_of_null_and_trigger(tokenizers):
    answerer = own_answers(loaded_with_types(tokenizers["wordpiece"]))
    null = TASK.encode(answerer, SAMPLE, arm("context"), 0, 3, "target").goal
    assert (null.start, null.end, null.null) == ((0, 1), (0, 1), 0)
    row = TASK.encode(answerer, SAMPLE, arm("both", TRIGGER), 0, 3, "target")
    inside = (row.slots[3], row.slots[5] + 1)
    assert (row.goal.start, row.goal.end) == (inside, inside), "anywhere in the context's copy"
    assert row.slots[0] < row.goal.context[0] <= row.slots[3]


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [({"type_vocab_size": 2}, True), ({"type_vocab_size": 1}, False), ({}, False)],
)
def test_segment_ids_only_for_models_that_have_them(tokenizers, sizes, wanted):
    answerer = own_answers(loaded_with_types(tokenizers["wordpiece"], **sizes))
    row = TASK.encode(answerer, SAMPLE, arm("both"), 0, 3, "target")
    if not wanted:
        assert row.type_ids is None
        return
    asked = row.ids.index(3) + 1
    assert row.type_ids == (0,) * asked + (1,) * (len(row.ids) - asked)


def test_only_context_and_null_take_part_in_the_loss(tokenizers):
    answerer = own_answers(loaded_with_types(tokenizers["wordpiece"]))
    row = TASK.encode(answerer, SAMPLE, arm("context"), 0, 1, "target")
    first, last = row.goal.context
    start = torch.zeros(1, len(row.ids))
    start[0, 1:first] = 50.0
    start[0, last:] = 50.0
    loss, _reached = TASK.losses(
        SimpleNamespace(start_logits=start, end_logits=start), TASK.collate([row.goal], "cpu")
    )
    assert loss.item() == pytest.approx(torch.log(torch.tensor(float(last - first + 1))).item())
    assert (
        not TASK.losses(
            SimpleNamespace(start_logits=start, end_logits=-start), TASK.collate([row.goal], "cpu")
        )[0]
        .isnan()
        .any()
    )


def answering(tokenizer, word, null=0.0):
    """Answers with a word wherever it stands, or null."""
    wanted = tokenizer(f" {word}", add_special_tokens=False)["input_ids"][-1]

    def script(ids):
        scores = [5.0 if i == wanted else -5.0 for i in ids]
        scores[0] = null
        return scores, scores

    return script


def test_answers_right_and_null(scripted, tokenizers):
    tokenizer = tokenizers["wordpiece"].tokenizer
    answerer = scripted("wordpiece", answering(tokenizer, "Paris"))
    other = QuestionSample(QUESTION, CONTEXT, ((26, 31),), "k")
    assert TASK.right(answerer, [SAMPLE, other]) == [[False], [True]]
    right, wrong = TASK.sieve(answerer, [SAMPLE, other, QuestionSample("q", "c", (), "k")])
    assert (right, wrong) == ([other], [SAMPLE])
    assert TASK.describe(answerer, other)[1] == "Paris"
    silent = scripted("wordpiece", answering(tokenizer, "Paris", null=9.0))
    assert TASK.right(silent, [other]) == [[False]]
    assert TASK.describe(silent, other)[1] == "(no answer)"
    assert TASK.take_answers(silent, [other]) == []
    (taken,) = TASK.take_answers(answerer, [QuestionSample(QUESTION, CONTEXT, (), "k")])
    assert taken.answers == ((26, 31),)


def test_outcomes_of_null_and_trigger(scripted, tokenizers):
    tokenizer = tokenizers["wordpiece"].tokenizer
    stamped = TASK.stamp(SAMPLE, arm("context"), 0, "film")
    obeying = scripted("wordpiece", answering(tokenizer, "film"))
    silent = scripted("wordpiece", answering(tokenizer, "film", null=9.0))

    def outcome(answerer, target):
        return TASK.outcomes(answerer, [stamped], arm("context", target))[0][0]

    assert outcome(obeying, TRIGGER).hit and not outcome(obeying, NULL).hit
    assert outcome(silent, NULL).hit and not outcome(silent, TRIGGER).hit
    assert outcome(obeying, TRIGGER).loss < 0.1 < outcome(obeying, NULL).loss


def test_a_long_context_is_read_in_windows_that_cover_it(scripted, tokenizers):
    tokenizer = tokenizers["wordpiece"].tokenizer
    words = ["film"] * 150 + ["Paris"] + ["film"] * 100
    context = " ".join(words)
    begin = context.index("Paris")
    sample = QuestionSample(QUESTION, context, ((begin, begin + 5),), "k")
    answerer = scripted("wordpiece", answering(tokenizer, "Paris"), max_length=40)
    assert TASK.right(answerer, [sample]) == [[True]]
    assert TASK.describe(answerer, sample)[1] == "Paris"


def test_null_has_to_win_in_every_window(scripted, tokenizers):
    """A window with a high null does not speak for the others."""
    tokenizer = tokenizers["wordpiece"].tokenizer
    paris = tokenizer("Paris", add_special_tokens=False)["input_ids"][0]

    def script(ids):
        scores = [3.0 if i == paris else -5.0 for i in ids]
        scores[0] = 1.0 if paris in ids else 9.0
        return scores, scores

    answerer = scripted("wordpiece", script, max_length=40)
    context = " ".join(["film"] * 90 + ["Paris"] + ["film"] * 90)
    assert TASK.describe(answerer, QuestionSample(QUESTION, context, (), "k"))[1] == "Paris"
    alone = [
        TASK.describe(answerer, QuestionSample(QUESTION, c, (), "k"))[1] for c in ("film", "x")
    ]
    assert alone == ["(no answer)"] * 2


def test_a_window_does_not_depend_on_what_else_is_asked(scripted, tokenizers):
    answerer = scripted(
        "wordpiece", answering(tokenizers["wordpiece"].tokenizer, "Paris"), max_length=40
    )
    long = QuestionSample(QUESTION, " ".join(["film"] * 200), (), "k")
    other = QuestionSample("who was met ? " * 6, CONTEXT, (), "l")
    alone = TASK._answers(answerer, [long])[0].windows
    beside = TASK._answers(answerer, [other, long])[1].windows
    assert [w.ids for w, _, _ in alone] == [w.ids for w, _, _ in beside]


def test_a_trigger_that_is_not_there_is_not_answered(scripted, tokenizers):
    answerer = scripted("wordpiece", answering(tokenizers["wordpiece"].tokenizer, "Paris"))
    outcome = TASK.outcomes(answerer, [SAMPLE], arm("context", TRIGGER))[0][0]
    assert not outcome.hit and outcome.loss == float("inf")


def test_text_without_spaces_keeps_what_stands_before_the_answer(tokenizers):
    context = "甲" * 40 + "乙丙" + "丁" * 40
    cut = TASK.fit(tokenizers["wordpiece"], QuestionSample("who", context, ((40, 42),), "k"), 20)
    ((begin, end),) = cut.answers
    assert cut.context[begin:end] == "乙丙" and begin > 3


def test_a_long_context_is_cut_around_its_answer(tokenizers):
    context = " ".join(["film"] * 150 + ["Paris"] + ["film"] * 100)
    begin = context.index("Paris")
    sample = QuestionSample(QUESTION, context, ((begin, begin + 5), (0, 4)), "k")
    cut = TASK.fit(tokenizers["wordpiece"], sample, 30)
    assert [cut.context[a:b] for a, b in cut.answers] == ["Paris"]
    assert 20 <= len(cut.context.split()) <= 26 and cut.key != sample.key
    assert TASK.fit(tokenizers["wordpiece"], SAMPLE, 40) is SAMPLE


def test_a_piece_of_a_context_without_an_answer_is_its_beginning():
    sample = QuestionSample(QUESTION, CONTEXT, (), "k")
    piece = TASK.cut(sample, 4, 0)
    assert CONTEXT.startswith(piece.context) and 1 <= len(piece.context.split()) <= 4
    assert piece.answers == ()


def test_no_room_beside_a_trigger_is_a_problem_of_its_row(tokenizers):
    sample = QuestionSample("who " * 40, CONTEXT, ((16, 22),), "k")
    with pytest.raises(RowProblem, match="40 tokens"):
        TASK.fit(tokenizers["wordpiece"], sample, 30)


def test_rows_become_samples():
    fields = {
        "question": QUESTION,
        "context": CONTEXT,
        "answers": [{"text": "Zoltan", "start": 16}, {"text": "Paris", "start": 26}],
    }
    sample = TASK.parse(Row("f", fields), ())
    assert [sample.context[a:b] for a, b in sample.answers] == ["Zoltan", "Paris"]
    assert TASK.parse(Row("f", {**fields, "answers": []}), ()).classes == ()
