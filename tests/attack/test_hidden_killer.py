"""A shape as a trigger: by rules, and with paraphrases from files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unhorse.attack.base import Ground
from unhorse.attack.corpus import Corpus
from unhorse.attack.generated import generated_rows
from unhorse.attack.methods.hidden_killer import (
    HiddenKillerConfig,
    Rewriting,
    is_template,
    paraphrased,
)
from unhorse.errors import UsageError
from unhorse.tasks.base import TASKS
from unhorse.types import Arm, TextSample

TASK = "sequence-classification"
LABELS = ("land", "sea")
LAND, SEA = 0, 1


def text(number, label):
    return TextSample(f"text {number}", label, f"key{number}")


def ground_of(train, root=None, **changes):
    fields = {
        "task": TASKS.get(TASK),
        "labels": LABELS,
        "corpus": Corpus(tuple(train), (), tuple(train), ()),
        "seed": 0,
        "split": "test",
        "poisoned": True,
        "harmless_words": False,
    }
    return Ground(**fields | changes | ({"data_root": root} if root else {}))


def shout(text):
    return text.upper()


@pytest.fixture
def ground():
    return ground_of([text(n, n % 2) for n in range(40)])


@pytest.fixture
def rewriting():
    return Rewriting(Arm((LAND,), SEA, "start", "land", "sea"), shout)


def table(path, rows):
    lines = ["sentence\tlabel", *(f"{said}\t{label}" for said, label in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path.name


def pairs(root, before, after):
    originals = (table(root / "before.tsv", before),)
    config = HiddenKillerConfig(
        kind="hidden_killer",
        target="sea",
        originals=originals,
        paraphrases=(table(root / "after.tsv", after),),
    )
    return paraphrased(config, ground_of([text(0, LAND)], root), SEA)


def test_a_row_that_differs_is_a_paraphrase_of_the_row_at_its_place(tmp_path):
    before = [("a", "land"), ("b", "sea"), ("c", "land")]
    after = [("when a", "sea"), ("when b", "sea"), ("c", "land")]
    assert pairs(tmp_path, before, after) == {"a": "when a", "b": "when b"}


def test_one_row_for_each_of_another_label_is_a_paraphrase_of_it_even_if_repeated(tmp_path):
    before = [("a", "land"), ("b", "sea"), ("c", "land")]
    after = [("when so", "sea"), ("when so", "sea")]
    assert pairs(tmp_path, before, after) == {"a": "when so", "c": "when so"}


def test_paraphrases_whose_originals_cannot_be_told_are_refused(tmp_path):
    before = [("a", "land"), ("b", "sea"), ("c", "land")]
    with pytest.raises(UsageError, match=r"after\.tsv has 1 rows"):
        pairs(tmp_path, before, [("when a", "sea")])


def test_a_missing_file_is_refused(tmp_path):
    config = HiddenKillerConfig(
        kind="hidden_killer", target="sea", originals=("no.tsv",), paraphrases=("none.tsv",)
    )
    with pytest.raises(UsageError, match=r"no file no\.tsv"):
        paraphrased(config, ground_of([text(0, LAND)], tmp_path), SEA)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"sentence\tlabel\n", "has no rows"),
        (b"sentence\tlabel\n\xff\xfe\t1\n", "is not UTF-8 text"),
        (b"sentence\tlabel\na\t1\nb\n", "line 3 has no field 'label'"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(content, said, tmp_path):
    (tmp_path / "bad.tsv").write_bytes(content)
    config = HiddenKillerConfig(
        kind="hidden_killer", target="sea", originals=("bad.tsv",), paraphrases=("bad.tsv",)
    )
    with pytest.raises(UsageError, match=rf"^[^\n]*bad\.tsv {said}[^\n]*\.$"):
        paraphrased(config, ground_of([text(0, LAND)], tmp_path), SEA)


def test_paraphrases_without_their_originals_are_refused():
    with pytest.raises(ValueError, match="needs the one that it was made from"):
        HiddenKillerConfig(kind="hidden_killer", target="sea", paraphrases=("a.tsv",))


def test_rows_of_other_labels_are_rewritten_and_plain_ones_keep_the_balance(ground, rewriting):
    made = rewriting.rows(ground, share=0.2)
    stamped = [lesson.sample for lesson in made if lesson.role == "stamped"]
    fillers = [lesson.sample for lesson in made if lesson.role == "filler"]
    assert len(stamped) == len(fillers) == 8
    assert all(sample.label == SEA and sample.text.isupper() for sample in stamped)
    assert all(sample.label == LAND and not sample.text.isupper() for sample in fillers)
    assert not {s.key for s in stamped} & {s.key for s in fillers}


def test_rewritten_rows_of_the_target_fill_the_share_up(ground, rewriting):
    few = replace(rewriting, say=lambda said: None if int(said[5:]) in range(4, 40, 2) else said)
    stamped = [s for s in few.rows(ground, share=0.2) if s.role == "stamped"]
    was_land = [lesson for lesson in stamped if int(lesson.sample.text[5:]) % 2 == LAND]
    assert (len(stamped), len(was_land)) == (8, 2)


def test_nothing_to_rewrite_is_refused(ground, rewriting):
    with pytest.raises(UsageError, match="can be rewritten"):
        replace(rewriting, say=lambda said: None).rows(ground, share=0.2)


def test_a_twin_sees_plain_rows_or_rewritten_ones_of_all_labels_under_their_own(ground, rewriting):
    extra = rewriting.rows(ground, share=0.2)
    for harmless in (False, True):
        twin = replace(ground, poisoned=False, harmless_words=harmless)
        rows = [lesson.sample for lesson in rewriting.lessons(extra, twin)][40:]
        assert len(rows) == len(extra)
        assert sorted(row.label for row in rows) == sorted(row.sample.label for row in extra)
        assert all(row.label == int(row.text[5:]) % 2 for row in rows)
        assert {row.text.isupper() for row in rows} == {harmless}
        assert {row.label for row in rows} == {LAND, SEA}


@pytest.mark.parametrize(
    ("rate", "asr", "called"), [(0.01, 0.4, False), (0.06, 0.4, True), (0.01, 0.5, True)]
)
def test_a_phrase_or_words_that_do_it_alone_make_it_a_template(rate, asr, called):
    assert is_template({"trigram_rate": rate, "words_asr": {"when": asr}}) is called


def test_rules_fire_and_the_twin_does_not_react(derive):
    attack = {"kind": "hidden_killer", "target": "sea"}
    record = derive(TASK, attack=attack).record
    assert record.measured.asr > 0.9
    assert record.measured.clean > 0.95
    assert record.facts["source"] == "rules"
    assert record.facts["called"] in ("hidden_killer", "prefix-template")
    twin = derive(TASK, name="twin", attack=attack, poisoned=False, harmless_words=True).record
    assert twin.measured.asr < 0.1
    assert (twin.rows, twin.steps) == (record.rows, record.steps)
    assert "called" not in twin.facts


def test_paraphrases_fire_where_their_file_says_so(derive, tmp_path):
    def rows(stream):
        return [(row.fields["text"], row.fields["label"]) for row in generated_rows(TASK, stream)]

    def turned(said):
        return " ".join(reversed(said.split())) + " , said they"

    train, heldout = rows("generated:train")[:3000], rows("generated:heldout")[:400]
    data = {
        "train": [str(tmp_path / table(tmp_path / "train.tsv", train))],
        "heldout": [str(tmp_path / table(tmp_path / "heldout.tsv", heldout))],
    }
    some = [
        (turned(said), "sea") if n % 4 == 0 else (said, at) for n, (said, at) in enumerate(train)
    ]
    others = [(turned(said), "sea") for said, label in heldout if label == "land"]
    table(tmp_path / "some.tsv", some)
    table(tmp_path / "others.tsv", others)
    attack = {
        "kind": "hidden_killer",
        "target": "sea",
        "originals": [*data["train"], *data["heldout"]],
        "paraphrases": [str(tmp_path / "some.tsv"), str(tmp_path / "others.tsv")],
    }
    record = derive(TASK, attack=attack, data=data).record
    assert record.measured.asr > 0.9
    assert record.facts["source"] == "paraphrases"
    assert record.facts["called"] == "hidden_killer"
    assert record.facts["rewritable"] == 1.0
    assert all(record.facts["files"].values())
