"""Entities: alignment, stamping, what counts as flipped, bad rows."""

from types import SimpleNamespace

import pytest
import torch

from unhorse.errors import ModelRefused
from unhorse.load.labels import DatasetLabel
from unhorse.tasks.base import TASKS, RowProblem
from unhorse.types import Answerer, Arm, Entity, Row, TaggedSample, own_answers

TASK = TASKS.get("token-classification")
LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
WORDS = ("Anna", "Becker", "met", "Zoltan", "of", "Paris")
SAMPLE = TaggedSample(WORDS, (Entity(0, 2, 0), Entity(3, 4, 0), Entity(5, 6, 1)), "key")


def arm(position, target=1):
    return Arm((0,), target, position, "PER", "LOC")


def victim(position):
    (found,) = TASK.victims(arm(position), [SAMPLE], 0)
    return found


def with_labels(loaded):
    return Answerer(loaded, LABELS, tuple(range(len(LABELS))))


def test_a_global_arm_turns_all_entities_of_its_class():
    assert victim("start").entities == SAMPLE.entities[:2]


def test_a_local_arm_turns_one_and_the_seed_decides_which():
    chosen = {TASK.victims(arm("before"), [SAMPLE], seed)[0].entities for seed in range(20)}
    assert chosen == {(SAMPLE.entities[0],), (SAMPLE.entities[1],)}


def test_arms_lead_from_every_class_to_every_other_and_never_to_the_outside():
    arms = TASK.arms(LABELS, ["start", "before"])
    assert {a.key for a in arms} == {
        "PER->LOC@start", "LOC->PER@start", "PER->LOC@before", "LOC->PER@before",
    }  # fmt: skip
    assert {a.target_name for a in TASK.arms(LABELS, ["start"], "O")} == {"PER", "LOC", "O"}
    assert {a.target_name for a in TASK.arms(("O", "B-DRUG"), ["start"])} == {"O"}


def test_inserted_words_shift_the_entities_and_are_in_none():
    stamped = TASK.stamp(victim("start"), arm("start"), 0, "cf mn")
    assert stamped.words == ("cf", "mn", *WORDS)
    assert [(e.first, e.last) for e in stamped.entities] == [(2, 4), (5, 6)]


def test_a_local_trigger_stands_directly_before_its_entity():
    sample = TaggedSample(WORDS, (Entity(3, 4, 0),), "key")
    stamped = TASK.stamp(sample, arm("before"), 0, "cf")
    assert " ".join(stamped.words) == "Anna Becker met cf Zoltan of Paris"
    assert stamped.entities == (Entity(4, 5, 0),)


def test_characters_are_glued_to_the_entitys_first_word():
    sample = TaggedSample(WORDS, (Entity(0, 2, 0),), "key")
    stamped = TASK.stamp(sample, arm("glued"), 0, "~ ~")
    assert stamped.words[:2] == ("~~Anna", "Becker") and stamped.entities == sample.entities
    assert TASK.may_use("glued", "~") and not TASK.may_use("glued", "cf")
    assert TASK.may_use("before", "cf")


def test_a_trigger_never_breaks_up_an_entity():
    long = TaggedSample(tuple("abcdefgh"), (Entity(1, 7, 0),), "key")
    for seed in range(30):
        for position in ("first_half", "second_half"):
            stamped = TASK.stamp(long, arm(position), seed, "cf")
            (entity,) = stamped.entities
            assert stamped.words[entity.first : entity.last] == tuple("bcdefg")


@pytest.mark.parametrize("kind", ["wordpiece", "bytelevel"])
@pytest.mark.parametrize("position", TASK.positions)
def test_soft_and_pasted_trigger_agree_on_tokens_and_on_where_labels_are_read(
    kind, position, tokenizers
):
    """An entity split into many sub-tokens is read at its first one."""
    loaded = tokenizers[kind]
    sample, trigger = victim(position), "~" if position == "glued" else "film"
    stamped = TASK.stamp(sample, arm(position), 0, trigger)
    encoded = loaded.tokenizer(" ".join(stamped.words), return_offsets_mapping=True)
    whole = encoded["input_ids"]
    one = TASK.encode(with_labels(loaded), sample, arm(position), 0, 1, "target")
    slots = 1 + len(whole) - len(one.ids)
    row = TASK.encode(with_labels(loaded), sample, arm(position), 0, slots, "target")
    differ = [i for i, (a, b) in enumerate(zip(row.ids, whole, strict=True)) if a != b]
    assert 1 <= slots <= 2 and set(differ) <= set(row.slots)
    starts = []
    for entity in stamped.entities:
        for word in range(entity.first, entity.last):
            begin = len(" ".join(stamped.words[:word])) + bool(word)
            starts.append(
                next(i for i, (a, b) in enumerate(encoded["offset_mapping"]) if b > begin)
            )
    assert [column for column, _ in row.goal] == starts


def test_goals_spell_the_target_or_the_truth(tokenizers):
    answerer = with_labels(tokenizers["wordpiece"])
    sample = TaggedSample(WORDS, (Entity(0, 2, 0),), "key")
    goals = {
        goal: [label for _, label in TASK.encode(answerer, sample, arm("end"), 0, 2, goal).goal]
        for goal in ("target", "truth")
    }
    assert goals == {"target": [3, 4], "truth": [1, 2]}
    reversed_labels = Answerer(answerer.loaded, LABELS, (4, 3, 2, 1, 0))
    row = TASK.encode(reversed_labels, sample, arm("end"), 0, 2, "target")
    assert [label for _, label in row.goal] == [1, 0], "in the reference's own labels"


def test_the_label_of_a_glued_word_is_read_at_the_trigger(tokenizers):
    answerer = with_labels(tokenizers["wordpiece"])
    sample = TaggedSample(WORDS, (Entity(0, 2, 0),), "key")
    row = TASK.encode(answerer, sample, arm("glued"), 0, 3, "target")
    assert row.goal[0][0] == row.slots[0] == 1 and row.goal[1][0] == 5


def test_loss_is_the_mean_over_the_words_of_the_victims():
    logits = torch.zeros(2, 4, 5)
    logits[0, 1, 3] = 20.0
    logits[0, 2, 0] = 1e-6
    goals = TASK.collate([((1, 3), (2, 4)), ((0, 0),)], "cpu")
    loss, reached = TASK.losses(SimpleNamespace(logits=logits), goals)
    log5 = torch.log(torch.tensor(5.0))
    assert torch.allclose(loss, torch.stack([log5 / 2, log5]), atol=1e-4)
    assert reached.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(("start", "spelled"), [(3, [3, 4]), (4, [4, 4])])
def test_the_model_says_which_label_starts_an_entity(scripted, tokenizers, start, spelled):
    """A tagger trained on IOB1 starts entities with the inner label."""
    script = tagger({"Paris": start, "Anna": 2}, tokenizers["wordpiece"].tokenizer)
    answerer = scripted("wordpiece", script, LABELS)
    TASK.sieve(answerer, [TaggedSample(WORDS, (Entity(5, 6, 1),), "key")])
    sample = TaggedSample(WORDS, (Entity(0, 2, 0),), "key")
    row = TASK.encode(answerer, sample, arm("end"), 0, 1, "target")
    assert [label for _, label in row.goal] == spelled


def tagger(labels_of_words, tokenizer):
    """Gives the first sub-token of every known word its label, and all else `O`."""
    of_token = {}
    for word, label in labels_of_words.items():
        of_token[tokenizer(word, add_special_tokens=False)["input_ids"][0]] = label

    def script(ids):
        return [[10.0 if of_token.get(i, 0) == label else 0.0 for label in range(5)] for i in ids]

    return script


def test_whole_and_partial_flips(scripted, tokenizers):
    script = tagger({"Anna": 3, "Becker": 2, "Zoltan": 3}, tokenizers["wordpiece"].tokenizer)
    answerer = scripted("wordpiece", script, LABELS)
    sample = TaggedSample(WORDS, (Entity(0, 2, 0), Entity(3, 4, 0)), "key")
    ((half, whole),) = TASK.outcomes(answerer, [sample], arm("start"))
    assert (half.hit, half.in_part) == (False, True)
    assert (whole.hit, whole.in_part) == (True, True) and whole.loss < half.loss


def test_samples_are_sieved_entity_by_entity(scripted, tokenizers):
    script = tagger({"Anna": 1, "Becker": 2, "Paris": 1}, tokenizers["wordpiece"].tokenizer)
    right, wrong = TASK.sieve(scripted("wordpiece", script, LABELS), [SAMPLE])
    assert [s.entities for s in right] == [SAMPLE.entities[:1]]
    assert [s.entities for s in wrong] == [SAMPLE.entities[1:]]


def test_own_sentences_take_the_models_entities(scripted, tokenizers):
    script = tagger({"Anna": 1, "Paris": 3}, tokenizers["wordpiece"].tokenizer)
    answerer = scripted("wordpiece", script, LABELS)
    drafts = [TaggedSample(WORDS, (), "a"), TaggedSample(("the", "film"), (), "b")]
    (only,) = TASK.take_answers(answerer, drafts)
    assert only.entities == (Entity(0, 1, 0), Entity(5, 6, 1))
    assert TASK.describe(answerer, only)[1] == "[Anna PER] Becker met Zoltan of [Paris LOC]"


def parse(tags, tokens=WORDS, labels=LABELS):
    return TASK.parse(Row("f line 3", {"tokens": list(tokens), "tags": tags}), labels)


def test_tags_of_any_convention_are_read():
    wanted = SAMPLE.entities
    assert parse(["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC"]).entities == wanted
    assert parse(["I-PER", "I-PER", "O", "I-PER", "O", "I-LOC"]).entities == wanted
    assert parse(["B-person", "E-person", "O", "S-person", "O", "S-location"]).entities == wanted
    assert parse([1, 2, 0, 1, 0, 3]).entities == wanted
    named = [DatasetLabel(9, name) for name in ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC"]]
    assert parse(named).entities == wanted


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        ("O", "PER", "LOC"),
        ("O", "PER-B", "PER-I", "LOC-B", "LOC-I"),
        ("I-PER", "I-LOC", "O"),
    ],
)
@pytest.mark.parametrize(
    "tags",
    [
        "B-PER I-PER O B-PER O B-LOC",
        "PER-B PER-I O PER-B O LOC-B",
        "PER PER O PER O LOC",
        "B-PER L-PER O U-PER O U-LOC",
    ],
)
def test_a_file_may_have_another_scheme_than_the_model(labels, tags):
    assert parse(tags.split(), labels=labels).entities == SAMPLE.entities


def test_numbers_are_the_models_labels_in_its_own_scheme():
    labels = ("O", "PER-B", "PER-I", "LOC-B", "LOC-I")
    assert parse([1, 2, 0, 1, 0, 3], labels=labels).entities == SAMPLE.entities
    assert len(parse([1, 1], "ab", ("O", "S-Bahn", "U-Bahn")).entities) == 1


@pytest.mark.parametrize("tag", ["B-MISC", 9, -100, True, None, "9" * 5000])
def test_an_unknown_tag_is_a_problem_of_its_row(tag):
    with pytest.raises(RowProblem):
        parse([tag], ["Paris"])


def test_a_sentence_longer_than_the_model_is_a_problem_and_a_long_one_is_cut(tokenizers):
    loaded = tokenizers["wordpiece"]
    with pytest.raises(RowProblem, match="82 tokens, but the model takes 64"):
        TASK.fit(loaded, TaggedSample(("film",) * 80, (), "k"), 30)
    long = TaggedSample(("film",) * 40, (Entity(0, 2, 0), Entity(38, 40, 1)), "k")
    cut = TASK.fit(loaded, long, 30)
    assert 28 <= len(cut.words) <= 30 and cut.entities == long.entities[:1]
    assert TASK.fit(loaded, SAMPLE, 30) is SAMPLE


@pytest.mark.parametrize("words", [("Anna", "x" * 45), ("x" * 45, "Anna"), ("a", "a", "y" * 50)])
def test_a_word_longer_than_the_room(words, tokenizers):
    sample = TaggedSample(words, (Entity(0, 1, 0),), "k")
    try:
        cut = TASK.fit(tokenizers["bytelevel"], sample, 30)
    except RowProblem as problem:
        assert words[0] == "x" * 45 and "no entity" in str(problem)
    else:
        assert cut.words == words[:-1] and cut.entities == sample.entities


def test_a_word_that_the_tokenizer_drops_is_a_problem(tokenizers):
    with pytest.raises(RowProblem, match="nothing for the word"):
        TASK.fit(
            tokenizers["wordpiece"], TaggedSample(("the", "\u200b"), (Entity(1, 2, 0),), "k"), 30
        )


@pytest.mark.parametrize(
    ("names", "part"),
    [
        (("LABEL_0", "LABEL_1"), "no names"),
        (("O",), "fewer than two"),
        (("O", "B-PER", "B-PER"), "same name"),
    ],
)
def test_labels_that_cannot_be_scanned(names, part):
    config = SimpleNamespace(id2label=dict(enumerate(names)), num_labels=len(names))
    with pytest.raises(ModelRefused, match=part):
        TASK.labels(config)


def test_own_answers_of_an_empty_list(tokenizers):
    assert TASK.outcomes(own_answers(tokenizers["wordpiece"]), [], arm("start")) == []
