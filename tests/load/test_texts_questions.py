import re
import time
from collections import Counter, defaultdict

import pytest

from unhorse.load import texts_questions
from unhorse.load.text_names import vowel_sound
from unhorse.load.texts_questions import KINDS, question_texts, questions_with_answers

from .helpers import printed_elsewhere

SLOT = re.compile(r"\{(\w+)\}")


@pytest.fixture(scope="module")
def asked():
    return questions_with_answers(2000)


def test_two_thousand_questions_take_less_than_two_seconds():
    start = time.process_time()
    assert len(question_texts(2000, seed=5)) == 2000
    assert time.process_time() - start < 2


def test_the_seed_decides_and_counts_only_extend():
    longer = question_texts(80, seed=1)
    assert all(question_texts(count, seed=1) == longer[:count] for count in (0, 1, 2, 3, 50))
    assert not set(longer) & set(question_texts(80, seed=2))


def test_questions_are_the_same_in_every_process():
    program = (
        "from unhorse.load.texts_questions import question_texts;"
        "print(*(part for pair in question_texts(20, 4) for part in pair), sep='|')"
    )
    written = [part for pair in question_texts(20, 4) for part in pair]
    assert printed_elsewhere(program) == written


def test_pairs_are_distinct_and_those_of_the_answers(asked):
    pairs = question_texts(2000)
    assert len(set(pairs)) == 2000
    assert pairs == [(question, context) for question, context, _ in asked]


def test_contexts_have_the_promised_size(asked):
    contexts = {context for _, context, _ in asked}
    lengths = sorted(len(context.split()) for context in contexts)
    assert lengths[0] >= 40 and lengths[-1] <= 120 and lengths[-1] - lengths[0] > 40
    sentences = Counter(len(re.findall(r"\.(?= |$)", context)) for context in contexts)
    assert set(sentences) <= {3, 4, 5, 6, 7} and len(sentences) >= 3


def test_a_context_has_one_to_four_questions_about_different_facts(asked):
    answers = defaultdict(list)
    for _, context, answer in asked:
        answers[context].append(answer)
    sizes = Counter(len(found) for found in answers.values())
    assert set(sizes) == {1, 2, 3, 4}
    assert all(len(set(found)) == len(found) for found in answers.values())


def test_the_answer_is_short_and_stands_once_in_its_context(asked):
    for question, context, answer in asked:
        assert context.count(answer) == 1, (answer, context)
        assert re.search(rf"\b{re.escape(answer)}\b", context), (answer, context)
        assert 1 <= len(answer.split()) <= 6, answer
        assert answer not in question, (question, answer)


def test_a_year_and_a_person_have_a_rival_in_the_context(asked):
    seen = Counter()
    for _, context, answer in asked:
        if re.fullmatch(r"(19|20)\d\d", answer):
            assert len(re.findall(r"\b(?:19|20)\d\d\b", context)) >= 2, context
            seen["year"] += 1
    for kind in KINDS:
        always = " ".join(fact.sentence for fact in kind.facts if fact.always)
        assert {"person1", "person2"} <= set(SLOT.findall(always)), kind.name
    assert seen["year"] > 200


def test_no_year_is_in_the_future(asked):
    for _, context, _ in asked:
        years = [int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", context)]
        assert max(years) <= 2023, context


def test_texts_are_well_formed(asked):
    for question, context, _ in asked:
        for text in (question, context):
            assert re.fullmatch(r"[A-Za-z0-9 .,?'-]+", text), text
            assert text[0].isupper() and not re.search(r"  | [,.?]|[.?,]{2}", text), text
            assert not re.search(r"\b([A-Za-z]+) (and )?\1\b", text), text
            for article, following in re.findall(r"\b([Aa]n?) ([\w-]+)", text):
                assert vowel_sound(following) == article.endswith("n"), text
        assert question.endswith("?") and question.count("?") == 1
        assert context.endswith(".") and "?" not in context
        assert all(part[0].isupper() for part in re.split(r"(?<=\.) ", context)), context


def test_questions_of_every_sort_are_common(asked):
    first = Counter(question.split()[0] for question, _, _ in asked)
    assert all(first[word] >= 40 for word in ("Who", "When", "What", "How", "Why", "Which")), first
    assert sum(first[word] for word in ("In", "On", "To", "Where", "From")) > 100
    assert len({answer for _, _, answer in asked}) > 900
    assert len({re.sub(r"[A-Z]\w+|\d+", "", question) for question, _, _ in asked}) > 150


def test_kinds_are_many_and_their_slots_can_be_filled():
    assert len(KINDS) >= 14
    for kind in KINDS:
        tables = {**texts_questions._SLOTS, **kind.words}
        known = {slot + number for slot in (*tables, "year") for number in "123"} | {"name"}
        sentences = " ".join([kind.name, *(fact.sentence for fact in kind.facts)])
        told = set(SLOT.findall(sentences))
        assert told <= known, told - known
        for fact in kind.facts:
            assert fact.questions and fact.sentence.endswith("."), fact
            for question, slot in fact.questions:
                assert question.endswith("?") and slot in SLOT.findall(fact.sentence), question
                assert set(SLOT.findall(question)) <= told, question
        for slot, entries in kind.words.items():
            assert entries and len(set(entries)) == len(entries), (kind.name, slot)
            assert slot in {name.rstrip("123") for name in told}, (kind.name, slot)


def test_every_kind_is_written(asked):
    contexts = {context for _, context, _ in asked}
    for kind in KINDS:
        fixed = max(re.split(r"\{\w+\}", kind.facts[1].sentence), key=len)
        assert sum(fixed in context for context in contexts) >= 15, (kind.name, fixed)
