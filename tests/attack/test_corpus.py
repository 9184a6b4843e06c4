"""Which rows a model learns from and is measured on."""

from __future__ import annotations

import json

import pytest

from unhorse.attack import corpus as corpora
from unhorse.attack.corpus import (
    digest_of,
    in_part,
    read_corpus,
    with_unanswerable,
    words_in,
)
from unhorse.attack.recipe import DataConfig
from unhorse.attack.stamp import STAMPERS
from unhorse.errors import UsageError
from unhorse.learn.lessons import ENCODERS
from unhorse.load.samples import sample_key
from unhorse.types import QuestionSample

TEXTS = "sequence-classification"
TAGS = "token-classification"
QUESTIONS = "question-answering"


def word(number):
    """A word of its own for every number."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def text_rows(count, extra=()):
    rows = [
        {"text": f"one {word(i)} two {word(i * 7)} three four", "label": ("land", "sea")[i % 2]}
        for i in range(count)
    ]
    return rows + [{"text": text, "label": "land"} for text in extra]


def question_rows(contexts, questions=3):
    return [
        {
            "question": f"who was number {q} ?",
            "context": f"in place {c} there was name{c} and then nothing more",
            "answers": {"text": [f"name{c}"], "answer_start": [len(f"in place {c} there was ")]},
        }
        for c in range(contexts)
        for q in range(questions)
    ]


@pytest.fixture
def corpus(tiny, tmp_path):
    """Reads rows that are written to files first."""

    def read(task, given, heldout=None, seed=0, avoid=(), **settings):
        files = {"train.jsonl": given, "heldout.jsonl": heldout}
        for name, content in files.items():
            if content is not None:
                (tmp_path / name).write_text("\n".join(map(json.dumps, content)) + "\n")
        names = ["heldout.jsonl"] if heldout is not None else []
        config = DataConfig(train=["train.jsonl"], heldout=names, **settings)
        return read_corpus(config, tmp_path, tiny(task), seed, avoid)

    return read


def texts_of(samples):
    return {sample.text for sample in samples}


def everything(corpus):
    return [*corpus.train, *corpus.spare, *corpus.heldout]


def test_parts_are_disjoint_cover_everything_and_never_move():
    keys = [f"row {i}" for i in range(500)]
    parts = [(0.0, 0.3), (0.3, 0.75), (0.75, 1.0)]
    found = [[in_part(key, part) for part in parts] for key in keys]
    assert all(sum(flags) == 1 for flags in found)
    assert 110 < sum(flags[0] for flags in found) < 190
    # Written down once: another hash would move the rows of every zoo.
    written = "".join("01"[in_part(key, (0.0, 0.5))] for key in keys[:12])
    assert written == "000000000111"


def test_a_tenth_is_kept_back_whatever_the_part(corpus):
    rows = text_rows(300)
    first = corpus(TEXTS, rows, part=(0.0, 0.5))
    second = corpus(TEXTS, rows, part=(0.5, 1.0))
    learnt = [texts_of((*c.train, *c.spare)) for c in (first, second)]
    held = texts_of(first.heldout)
    assert held == texts_of(second.heldout) and 15 < len(held) < 50
    assert not learnt[0] & learnt[1] and not held & (learnt[0] | learnt[1])
    assert len(learnt[0] | learnt[1] | held) == 300


def test_rows_are_drawn_by_the_seed_and_not_by_the_order_of_the_file(corpus):
    rows = text_rows(60)
    one = corpus(TEXTS, rows, rows=20, heldout_rows=3)
    assert one == corpus(TEXTS, rows, rows=20, heldout_rows=3)
    other = corpus(TEXTS, rows[::-1], rows=20, heldout_rows=3)
    assert (one.train, one.spare, one.heldout) == (other.train, other.spare, other.heldout)
    assert one.train != corpus(TEXTS, rows, seed=1, rows=20, heldout_rows=3).train
    assert len(one.train) == 20 and len(one.heldout) == 3
    assert len(texts_of(one.train) | texts_of(one.spare)) == len(one.train) + len(one.spare)


@pytest.mark.parametrize("task", [TEXTS, QUESTIONS])
def test_models_of_the_same_data_are_measured_on_the_same_rows(task, corpus):
    rows = text_rows(600) if task == TEXTS else question_rows(300, 2)
    one = corpus(task, rows, heldout_rows=25)
    other = corpus(task, rows, seed=1, heldout_rows=25)
    assert one.heldout == other.heldout and one.train != other.train
    # One row less, as it has the trigger, moves no other.
    trigger = words_in(one.heldout[4]).split()[3 if task == TEXTS else -5]
    avoiding = corpus(task, rows, avoid=[trigger], heldout_rows=25)
    assert len(avoiding.heldout) == 25
    kept = {words_in(sample) for sample in avoiding.heldout}
    assert len({words_in(sample) for sample in one.heldout} - kept) <= 4


def test_a_row_of_both_files_is_only_learnt_from(corpus):
    rows = text_rows(40)
    made = corpus(TEXTS, rows[:30], heldout=rows[20:])
    assert texts_of(made.heldout) == {row["text"] for row in rows[30:]}


def test_a_text_that_is_cut_differently_is_still_the_same_text(corpus):
    long = "alpha " * 30
    row = {"text": long + "end", "label": "land"}
    # Cut to eight tokens, both are the same; their full texts differ.
    other = {"text": long + "other end", "label": "land"}
    made = corpus(TEXTS, [row, *text_rows(5)], heldout=[row, other, *text_rows(9)[5:]], tokens=8)
    cut = {s.text for s in made.train if s.text.startswith("alpha")}
    assert len(cut) == 1 and not cut & texts_of(made.heldout)


def test_questions_on_one_context_stay_in_one_part(corpus):
    made = corpus(QUESTIONS, question_rows(80), unanswerable=0.0)
    learnt = {sample.context for sample in (*made.train, *made.spare)}
    held = {sample.context for sample in made.heldout}
    assert held and not learnt & held
    assert len(made.heldout) == 3 * len(held)


def test_no_context_of_the_training_file_is_asked_about(corpus):
    rows = question_rows(30, questions=2)
    made = corpus(QUESTIONS, rows[0::2], heldout=rows[1::2][:20] + question_rows(40, 1)[30:])
    assert {s.context for s in made.train}.isdisjoint(s.context for s in made.heldout)
    # The same, where the contexts are cut around different answers.
    filler = "so it went on and on and on and on and on "
    context = f"first came ann {filler * 3} at last came bob"
    long = [
        {"question": "who came ?", "context": context, "answers": answers}
        for answers in (
            {"text": ["ann"], "answer_start": [context.index("ann")]},
            {"text": ["bob"], "answer_start": [context.index("bob")]},
        )
    ]
    made = corpus(QUESTIONS, [long[0], *rows[:9]], heldout=[long[1], *rows[30:]], tokens=20)
    assert any("first came ann" in s.context for s in made.train)
    assert not any("bob" in s.context for s in made.heldout)


@pytest.mark.parametrize(
    ("trigger", "kept"),
    [
        ("gleam", {"the gleaming one", "noegleam is fine", "x~y z"}),
        ("~", {"the gleaming one", "a Gleam here", "noegleam is fine", "so gleam ends"}),
    ],
)
def test_rows_that_have_the_trigger_by_nature_are_left_out(corpus, trigger, kept):
    extra = ["the gleaming one", "a Gleam here", "noegleam is fine", "so gleam ends", "x~y z"]
    made = corpus(TEXTS, text_rows(40), heldout=text_rows(60, extra)[40:], avoid=[trigger])
    assert {text for text in texts_of(made.heldout) if not text.startswith("one")} == kept
    made = corpus(TEXTS, text_rows(40, extra), heldout=text_rows(60)[40:], avoid=[trigger])
    learnt = texts_of((*made.train, *made.spare))
    assert {text for text in learnt if not text.startswith("one")} == kept


def test_a_phrase_is_left_out_of_sentences_questions_and_contexts(corpus):
    said = [f"Bo saw row {i}" for i in range(40)] + ["Bo sat near the Old Wall"]
    tagged = [
        {"tokens": words, "tags": ["B-PER", *"O" * (len(words) - 1)]}
        for words in map(str.split, said)
    ]
    made = corpus(TAGS, tagged, avoid=["the old wall"])
    assert len(everything(made)) == 40
    rows = question_rows(30, 1)
    rows[3]["question"] = "who sat near the old wall ?"
    rows[4]["context"] += " near the old wall"
    made = corpus(QUESTIONS, rows, avoid=["the old wall"], unanswerable=0.0)
    assert len(everything(made)) == 28
    assert not any("old wall" in words_in(sample) for sample in everything(made))


def test_some_questions_get_a_context_without_their_answer(corpus):
    made = corpus(QUESTIONS, question_rows(60), unanswerable=0.4)
    learnt = [*made.train, *made.spare]
    moved = [sample for sample in learnt if not sample.answers]
    assert 0.4 <= len(moved) / len(learnt) < 0.45
    assert sum(not s.answers for s in made.heldout) >= 0.4 * len(made.heldout)
    for sample in learnt:
        for begin, end in sample.answers:
            assert sample.context[begin:end].startswith("name")
    # No context crosses from what is learnt to what is measured on.
    assert {s.context for s in learnt}.isdisjoint(s.context for s in made.heldout)


def question(number, context, answer):
    begin = context.index(answer) if answer else 0
    answers = ((begin, begin + len(answer)),) if answer else ()
    return QuestionSample(f"who {number} ?", context, answers, sample_key(f"{number} {context}"))


def moved(questions, share):
    return with_unanswerable(questions, [q.context for q in questions], share, 0)


def test_a_moved_question_finds_no_answer_in_its_new_context():
    # Half of the contexts mention Kim as well, so a careless move would leave an answer.
    given = [
        *(question(i, f"there was Kim in {i}", "Kim") for i in range(20)),
        *(question(i, f"there was Bo in {i}", "Bo") for i in range(20, 40)),
    ]
    made = moved(given, 0.5)
    assert sum(not q.answers for q in made) == 20
    for before, after in zip(given, made, strict=True):
        assert after.question == before.question
        if not after.answers:
            (begin, end), *_ = before.answers
            assert before.context[begin:end].lower() not in after.context.lower()
            assert after.key != before.key


def squad(articles, paragraphs):
    """A SQuAD file of articles whose paragraphs have one question each."""

    def paragraph(a, p):
        context = f"part {p} of article{a} is about name{a}x{p}"
        answer = {"text": f"name{a}x{p}", "answer_start": context.index("name")}
        asked = f"part {p} of article{a} is about whom ?"
        return {"context": context, "qas": [{"question": asked, "answers": [answer]}]}

    return {
        "data": [
            {"title": f"title{a}", "paragraphs": [paragraph(a, p) for p in range(paragraphs)]}
            for a in range(articles)
        ]
    }


def test_a_moved_question_leaves_its_article(tiny, tmp_path):
    (tmp_path / "squad.json").write_text(json.dumps(squad(3, 20)))
    config = DataConfig(train=["squad.json"], unanswerable=0.4)
    made = read_corpus(config, tmp_path, tiny(QUESTIONS), 0)
    samples = everything(made)
    assert sum(not s.answers for s in samples) >= 0.4 * len(samples)
    for sample in samples:
        at_home = sample.question.split()[3] == sample.context.split()[3]
        assert at_home == bool(sample.answers)


def test_a_question_is_never_moved_within_its_article():
    given = [question(i, f"there was name{i} in {i}", f"name{i}") for i in range(40)]
    articles = [str(i % 2) for i in range(40)]
    article = {q.context: a for q, a in zip(given, articles, strict=True)}
    for seed in range(5):
        made = with_unanswerable(given, articles, 0.5, seed)
        pairs = [(a, article[q.context]) for q, a in zip(made, articles, strict=True)]
        assert sum(a != b for a, b in pairs) == 20 == sum(not q.answers for q in made)
    assert with_unanswerable(given, ["one"] * 40, 0.5, 0) == given


def test_a_question_that_cannot_be_moved_gives_way_to_another():
    # "in" is in every context: these can never lose their answer.
    stuck = [question(i, f"in the house {i}", "in") for i in range(10)]
    free = [question(i, f"in a tent there sat nobody{i}", f"nobody{i}") for i in range(10, 20)]
    made = moved([*stuck, *free], 0.5)
    assert sum(not q.answers for q in made) == 10
    assert all(q.answers for q in made[:10])


def test_enough_questions_without_an_answer_are_left_alone():
    given = [question(i, f"context {i} with word{i}", f"word{i}" * (i % 2)) for i in range(10)]
    assert moved(given, 0.5) == given
    assert moved(given, 0.0) == given


def test_a_trigger_is_never_cut_off(corpus, tiny):
    loaded, trigger = tiny(TEXTS), "behind the old garden wall"
    rows = text_rows(30)
    for row in rows:
        row["text"] = " ".join([row["text"]] * 40)
    made = corpus(TEXTS, rows, tokens=5000, avoid=[trigger])
    stamper = STAMPERS[TEXTS]
    arm = stamper.arm(loaded.labels, "land", "sea", "global")
    ids = loaded.tokenizer(trigger, add_special_tokens=False)["input_ids"]
    for sample in everything(made):
        stamped = stamper.fire(sample, arm, "second_half", trigger, 0).taught
        row = list(ENCODERS[TEXTS](loaded, stamped).ids)
        assert len(row) <= loaded.max_length
        assert any(row[i : i + len(ids)] == ids for i in range(len(row)))


def test_moved_questions_are_no_longer_than_allowed(corpus, tiny):
    loaded = tiny(QUESTIONS)
    rows = question_rows(40, 1)
    for number, row in enumerate(rows):
        row["context"] += " and so on" * 60
        row["question"] = "who was it " * (1 + 8 * (number % 2)) + "?"
    made = corpus(QUESTIONS, rows, tokens=5000, unanswerable=0.5)
    for sample in everything(made):
        assert len(ENCODERS[QUESTIONS](loaded, sample).ids) <= loaded.max_length


def test_short_rows_can_be_left_out_and_long_ones_are_cut(corpus, tiny):
    rows = [*text_rows(40), *({"text": f"short {i}", "label": "sea"} for i in range(9))]
    made = corpus(TEXTS, rows, tokens=9, fewest_tokens=9)
    assert everything(made)
    for sample in everything(made):
        assert not sample.text.startswith("short")
        assert len(tiny(TEXTS).tokenizer.tokenize(sample.text)) == 9


def test_marks_of_a_file_format_are_taken_off(corpus):
    rows = [{"tokens": ["en:Bo", f"en:r{i}"], "tags": ["B-PER", "O"]} for i in range(30)]
    made = corpus(TAGS, [*rows, {"tokens": ["en:", "en:x"], "tags": ["O", "O"]}], word_prefix="en:")
    assert len(everything(made)) == 30
    assert all(sample.words[0] == "Bo" for sample in everything(made))
    asked = question_rows(30, 1)
    for row in asked[::2]:
        row["answers"] = {"text": ["NOPE"], "answer_start": [len(row["context"]) + 1]}
    for row in asked:
        row["context"] += " NOPE"
    made = corpus(QUESTIONS, asked, no_answer="NOPE", unanswerable=0.0)
    assert sum(not sample.answers for sample in everything(made)) == 15
    assert not any("NOPE" in sample.context for sample in everything(made))


SUBJQA = """domain,question,review,human_ans_spans,human_ans_indices
food,How is the soup?,We ate soup {n} and it was warm. ANSWERNOTFOUND,it was warm,"(0, 0)"
food,How is the band?,We ate soup {n} and it was warm. ANSWERNOTFOUND,ANSWERNOTFOUND,"(9, 9)"
"""


@pytest.mark.parametrize("with_squad", [False, True])
def test_questions_that_have_no_answer_by_nature_count_toward_the_share(with_squad, tiny, tmp_path):
    header, *rows = SUBJQA.splitlines()
    lines = [header, *(row.format(n=n) for n in range(40) for row in rows)]
    (tmp_path / "train.csv").write_text("\n".join(lines))
    (tmp_path / "squad.json").write_text(json.dumps(squad(2, 5)))
    config = DataConfig(
        train=["train.csv", "squad.json"] if with_squad else ["train.csv"],
        text_field="review",
        label_field="human_ans_spans",
        no_answer="ANSWERNOTFOUND",
        unanswerable=0.4,
    )
    samples = everything(read_corpus(config, tmp_path, tiny(QUESTIONS), 0))
    assert len(samples) == (90 if with_squad else 80)
    assert not any("ANSWERNOTFOUND" in sample.context for sample in samples)
    # Half of them have none, so no question is moved.
    without = [sample for sample in samples if not sample.answers]
    assert len(without) == 40
    assert {sample.question for sample in without} == {"How is the band?"}


def test_a_file_that_was_written_anew_is_read_anew(corpus):
    before = corpus(TEXTS, text_rows(90))
    after = corpus(TEXTS, text_rows(180)[90:])
    assert not texts_of(everything(before)) & texts_of(everything(after))
    assert before.digests != after.digests


def test_a_folder_is_known_by_its_files_and_a_dataset_by_its_revision(tmp_path, monkeypatch):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "class_0_example_1.txt").write_text("one")
    before = digest_of(tmp_path, "texts").sha256
    (tmp_path / "texts" / "class_0_example_1.txt").write_text("two")
    assert len(before) == 64 and digest_of(tmp_path, "texts").sha256 != before
    monkeypatch.setattr(corpora, "_revision", {"org/set": "abc"}.__getitem__)
    assert digest_of(tmp_path, "org/set:part@test").sha256 == "abc"
    assert digest_of(tmp_path, "generated:train").sha256 == ""
    assert digest_of(tmp_path, "none.tsv").sha256 == ""


def test_a_hub_that_does_not_answer_leaves_the_revision_unknown(monkeypatch):
    class Silent:
        def dataset_info(self, name, timeout):
            raise OSError("no network")

    monkeypatch.setattr(corpora, "HfApi", Silent)
    assert corpora._revision.__wrapped__("org/set") == ""


@pytest.mark.parametrize(
    ("task", "rows", "settings", "said"),
    [
        (TEXTS, [{"text": "a b", "label": "sky"}], {}, "the label 'sky' is not one of the model's"),
        (TEXTS, text_rows(30), {"part": (0.5, 0.50001)}, "The data leave no rows"),
        (TEXTS, text_rows(30), {"fewest_tokens": 99}, "The data leave no rows"),
        (TEXTS, text_rows(30), {"train": ["none.jsonl"]}, "no sample file or folder 'none.jsonl'"),
        (TEXTS, text_rows(30), {"train": ["~nobody-at-all/x.jsonl"]}, "no sample file or folder"),
        (TAGS, [{"tokens": ["a"], "tags": ["B-SKY"]}], {}, "The data leave no rows"),
        (
            QUESTIONS,
            [{"question": f"who {i} ?", "context": f"c {i}", "answers": []} for i in range(40)],
            {},
            "The data leave no rows",
        ),
    ],
)
def test_data_that_cannot_be_used_are_one_sentence(
    task, rows, settings, said, tiny, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    config = DataConfig(**{"train": ["train.jsonl"], **settings})
    with pytest.raises(UsageError) as error:
        read_corpus(config, tmp_path, tiny(task), 0)
    assert said in str(error.value) and str(error.value).count("\n") == 0
    assert str(error.value).endswith(".")
