import json
import random

import pytest

from unhorse.errors import UsageError
from unhorse.load import sample_questions
from unhorse.load.samples import read_rows, rows_in_memory

from .helpers import Stream, refusal, write

CONTEXT = "The Normans came to Normandy. They gave it its name in the 10th century."


def read(source, **fields):
    return read_rows(source, "questions", **fields)


def answers(source, **fields):
    """The answers by question, each of which must stand at its place."""
    found = {}
    for row in read(source, **fields).rows:
        assert set(row.fields) == {"question", "context", "answers"}
        for answer in row.fields["answers"]:
            assert row.fields["context"].startswith(answer["text"], answer["start"])
            assert answer["text"] == answer["text"].strip() != ""
        found[row.fields["question"]] = [(a["text"], a["start"]) for a in row.fields["answers"]]
    return found


def refused(source, **fields):
    return refusal(source, "questions", **fields)


def squad(*questions, context=CONTEXT):
    paragraph = {"context": context, "qas": list(questions)}
    return {"version": "v2.0", "data": [{"title": "Normans", "paragraphs": [paragraph]}]}


def asked(question, *claims, **more):
    given = [{"text": text, "answer_start": start} for text, start in claims]
    return {"question": question, "id": f"id of {question}", "answers": given, **more}


# --- SQuAD --------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["s.json", "s.JSON"])
def test_squad_one(tmp_path, indent, name):
    content = squad(
        asked("Where?", ("Normandy", 20), ("to Normandy", 17)), asked("When?", ("10th century", 59))
    )
    content["data"].append({"paragraphs": [{"context": "Rome.", "qas": [asked("?", ("Rome", 0))]}]})
    source = write(tmp_path, name, json.dumps(content, indent=indent))
    rows = read(source)
    assert answers(source) == {
        "Where?": [("Normandy", 20), ("to Normandy", 17)],
        "When?": [("10th century", 59)],
        "?": [("Rome", 0)],
    }
    assert [row.where for row in rows.rows] == [
        f"{name} article 1 paragraph 1 question 1",
        f"{name} article 1 paragraph 1 question 2",
        f"{name} article 2 paragraph 1 question 1",
    ]
    assert rows.rows[0].fields["context"] == CONTEXT
    assert rows.problems == ()


def test_squad_two_has_questions_without_an_answer(tmp_path):
    plausible = [{"text": "Normandy", "answer_start": 20}]
    content = squad(
        asked("Who?", ("The Normans", 0), is_impossible=False),
        asked("Why?", is_impossible=True, plausible_answers=plausible),
        asked("How?", ("Normandy", 20), is_impossible=True),
    )
    assert answers(write(tmp_path, "s.json", json.dumps(content))) == {
        "Who?": [("The Normans", 0)],
        "Why?": [],
        "How?": [],
    }


def test_parts_of_squad_by_line_or_in_a_list(tmp_path):
    [article] = squad(asked("Who?", ("The Normans", 0)))["data"]
    [paragraph] = article["paragraphs"]
    expected = {"Who?": [("The Normans", 0)]}
    assert answers(write(tmp_path, "s.jsonl", json.dumps(paragraph))) == expected
    source = write(tmp_path, "s.json", json.dumps([article]))
    assert answers(source) == expected
    assert read(source).rows[0].where == "s.json item 1 paragraph 1 question 1"


def test_flat_questions_under_data(tmp_path):
    record = {"question": "Who?", "context": CONTEXT, "answers": {"text": ["The Normans"]}}
    source = write(tmp_path, "s.json", json.dumps({"data": [record]}))
    assert answers(source) == {"Who?": [("The Normans", 0)]}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (squad(7), "s.json article 1 paragraph 1 question 1 is not a JSON object."),
        ({"data": [{"paragraphs": [None]}]}, "s.json article 1 paragraph 1 is not a JSON object."),
        ({"data": ["x"]}, "s.json article 1 is not a JSON object."),
        ({"data": {}}, "s.json has no field that looks like the question (question, question_te"),
        ({"data": [{"paragraphs": 1}]}, "s.json article 1 has no field that looks like the que"),
        (squad(asked("Who?", ("x", 0)), context=[1]), "has a list in the field 'context', where"),
        (squad(asked("Who?", ("x", 0)), context=" "), "question 1 has a blank context."),
        (squad(asked(" ", ("x", 0))), "question 1 has a blank question."),
        (squad({"id": 1, "question": "Who?"}), "no field that looks like the answer (answers, "),
    ],
)
def test_squad_of_the_wrong_shape(tmp_path, content, problem):
    message = refused(write(tmp_path, "s.json", json.dumps(content)))
    assert message.startswith("There are no samples in") and problem in message


def test_squad_without_questions(tmp_path):
    source = write(tmp_path, "s.json", json.dumps(squad()))
    assert refused(source) == f"There are no samples in {source!r}."


def test_questions_on_one_paragraph_hold_the_same_context(tmp_path):
    content = squad(asked("Who?", ("a", 0)), asked("When?", ("a", 0)), context="a\0" + "b" * 50)
    first, second = read(write(tmp_path, "s.json", json.dumps(content))).rows
    assert first.fields["context"] is second.fields["context"]


# --- shapes of answers --------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"answers": {"text": ["it", "its"], "answer_start": [40, 43]}}, [("it", 40), ("its", 43)]),
        ({"answers": {"text": "it", "answer_start": 40}}, [("it", 40)]),
        ({"answers": {"text": [], "answer_start": []}}, []),
        ({"answers": {"text": [""], "answer_start": [-1]}}, []),
        ({"answers": {"text": None, "answer_start": None}}, []),
        ({"answers": {}}, []),
        ({"answers": []}, []),
        ({"answers": None}, []),
        ({"answers": [{"text": "it", "answer_start": 40}]}, [("it", 40)]),
        ({"answers": [{"text": "it", "start": 40}]}, [("it", 40)]),
        ({"answers": [{"text": "Normandy"}]}, [("Normandy", 20)]),
        ({"answers": ["Normandy", "century"]}, [("Normandy", 20), ("century", 64)]),
        ({"answers": ["it"], "answer_start": [40]}, [("it", 40)]),
        ({"answer": "Normandy"}, [("Normandy", 20)]),
        ({"Answer": "it", "Answer Start": 40}, [("it", 40)]),
        ({"answer": "it", "start": 40.0}, [("it", 40)]),
        ({"answer": "it", "answer_start": "40"}, [("it", 40)]),
        ({"answer": ""}, []),
        ({"answer": "  ", "answer_start": []}, []),
        ({"answer": None}, []),
        ({"is_impossible": True}, []),
    ],
)
@pytest.mark.parametrize("name", ["s.jsonl", "s.json"])
def test_shapes_of_answers(tmp_path, given, expected, name):
    record = {"id": 1, "question": "What?", "context": CONTEXT, **given}
    text = json.dumps(record if name == "s.jsonl" else [record])
    assert answers(write(tmp_path, name, text)) == {"What?": expected}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"answer": "Rome"}, ": the answer 'Rome' is not in its context."),
        ({"answer": "Rome", "answer_start": 3}, ": the answer 'Rome' is not in its context."),
        ({"answer": "in"}, ": the answer 'in' is not in its context."),
        ({"answer": "it"}, ": the answer 'it' is in its context more than once, with no start"),
        ({"answer": "it", "start": 41}, ": the answer 'it' is in its context more than once, wi"),
        ({"answer": "x" * 90}, ": the answer '" + "x" * 40 + "...' is not in its context."),
        ({"answer": 7}, " has a int in the field 'answer', where an answer must be."),
        ({"answers": [7]}, " has a int in the field 'answers', where an answer must be."),
        ({"answers": ["a", None]}, " has a str in the field 'answers', where an answer must be."),
        ({"answers": [{"span": "a"}]}, " has an answer without a text in the field 'answers'."),
        ({"answers": {"span": "a"}}, " has an answer without a text in the field 'answers'."),
        ({"answers": {"text": [7]}}, " has a int in the field 'answers', where the text of an"),
        (
            {"answers": {"text": ["a", "b"], "answer_start": [1]}},
            " has 2 answers but 1 starts of them.",
        ),
        ({}, " has no field that looks like the answer (answers, answer, answer_text, answers_te"),
        ({"answer": "a", "question": 7}, " has a int in the field 'question', where a text must"),
        ({"answer": "a", "question": " \0"}, " has a blank question."),
        ({"answer": "a", "context": None}, " has a NoneType in the field 'context', where a tex"),
    ],
)
def test_a_bad_question_is_left_out_and_the_others_stay(tmp_path, given, problem):
    bad = {"question": "What?", "context": CONTEXT.replace(" in ", " "), **given}
    good = {"question": "Where?", "context": CONTEXT, "answer": "Normandy"}
    source = write(tmp_path, "s.jsonl", f"{json.dumps(bad)}\n{json.dumps(good)}\n")
    assert answers(source) == {"Where?": [("Normandy", 20)]}
    [found] = read(source).problems
    assert found.startswith(f"s.jsonl line 1{problem}") and found.endswith(".")
    alone = write(tmp_path, "alone.jsonl", json.dumps(bad))
    assert f"alone.jsonl line 1{problem}" in refused(alone)


# --- places -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("Normandy", 20, ("Normandy", 20)),
        ("Normandy", 19, ("Normandy", 20)),
        ("Normandy", -1, ("Normandy", 20)),
        ("Normandy", 10**4000, ("Normandy", 20)),
        ("Normandy", 1e300, ("Normandy", 20)),
        ("Normandy", [1], ("Normandy", 20)),
        ("Normandy", True, ("Normandy", 20)),
        (" Normandy", 19, ("Normandy", 20)),
        ("\tNormandy. ", 20, ("Normandy.", 20)),
        (" it ", 39, ("it", 40)),
        (" it ", 40, ("it", 40)),
    ],
)
def test_answers_are_put_where_they_stand(tmp_path, text, start, expected):
    source = write(tmp_path, "s.json", json.dumps(squad(asked("What?", (text, start)))))
    assert answers(source) == {"What?": [expected]}


def test_the_good_answers_of_a_question_stay(tmp_path):
    content = squad(asked("What?", ("Rome", 3), ("Normandy", 20), (" ", 0), ("it", 1)))
    source = write(tmp_path, "s.json", json.dumps(content))
    assert answers(source) == {"What?": [("Normandy", 20)]}
    assert read(source).problems == ()


def test_nothing_moves_in_contexts_and_questions(tmp_path):
    record = {"question": " Who\n? ", "context": " \u2028 a\r\n  Rome ", "answer": "Rome"}
    source = write(tmp_path, "s.jsonl", json.dumps(record))
    assert answers(source) == {" Who\n? ": [("Rome", 8)]}
    assert read(source).rows[0].fields["context"] == record["context"]


def test_characters_that_no_tokenizer_takes_keep_their_places(tmp_path):
    line = (
        r'{"question": "W\u0000\ud800?", "context": "\ud83d\ude00\udc00\u0000 \ud83dx Rome Rome",'
        r' "answers": {"text": ["Rome", "\ud83dx"], "answer_start": [7, 4]}}'
    )
    source = write(tmp_path, "s.jsonl", line)
    assert answers(source) == {"W \ufffd?": [("Rome", 7), ("\ufffdx", 4)]}
    assert read(source).rows[0].fields["context"] == "\U0001f600\ufffd  \ufffdx Rome Rome"


def test_of_equal_questions_on_a_context_the_first_stays(tmp_path):
    content = squad(
        asked("Who?", ("Normandy", 20)), asked("Who?", ("Normans", 4)), asked("?", ("Normans", 4))
    )
    content["data"] += squad(asked("Who?", ("Rome", 0)), context="Rome")["data"]
    rows = read(write(tmp_path, "s.json", json.dumps(content)))
    assert [row.fields["answers"][0]["text"] for row in rows.rows] == [
        "Normandy",
        "Normans",
        "Rome",
    ]
    assert rows.problems == ()


def test_too_long_a_context(tmp_path, monkeypatch):
    monkeypatch.setattr(sample_questions, "MAX_CONTEXT_CHARACTERS", 10)
    source = write(tmp_path, "s.json", json.dumps(squad(asked("Who?", ("Normans", 4)))))
    assert "question 1 has a context of more than 10 characters." in refused(source)


# --- tables, fields and files of other kinds ----------------------------------


def test_csv(tmp_path):
    source = write(
        tmp_path,
        "s.csv",
        "question,context,answer,answer_start,is_impossible\n"
        'Where?," In Rome,\nor in Rome",Rome,16.0,False\nWho?,In Rome,,,\nWhy?,Rome,Rome,0,True\n',
    )
    assert answers(source) == {"Where?": [("Rome", 16)], "Who?": [], "Why?": []}
    assert [row.where for row in read(source).rows][1] == "s.csv line 4"


def test_tsv(tmp_path):
    source = write(tmp_path, "s.tsv", "Question\tContext\tAnswer\nWhere?\tIn Rome\tRome\n")
    assert answers(source) == {"Where?": [("Rome", 3)]}


def test_a_table_without_a_header_is_refused(tmp_path):
    source = write(tmp_path, "s.tsv", "Where?\tIn Rome\tRome\nWho?\tA man\tman\n")
    assert "its fields are: 'Where?', 'In Rome', 'Rome'." in refused(source)
    assert "looks like the question" in refused(write(tmp_path, "t.tsv", "In Rome\t1\nno\t0\n"))


def test_named_fields(tmp_path):
    record = {"question": "Where?", "review": "In Rome", "span": "Rome"}
    source = write(tmp_path, "s.jsonl", json.dumps(record))
    assert answers(source, text_field="review", label_field="span") == {"Where?": [("Rome", 3)]}
    assert "has no field 'body'; its fields are: 'question'" in refused(source, text_field="body")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.jsonl", '{"text": "a", "label": 0}', "(question, question_text, query); its fields "),
        ("s.jsonl", '{"text": "a", "label": 0}', "; its fields are: 'text', 'label'."),
        ("s.conll", "a O\n", "s.conll is not a kind of sample file; use one of .jsonl"),
        ("s.txt", "a O\n", "s.txt is not a kind of sample file; use one of .jsonl"),
        ("s", "a O\n", "s is not a kind of sample file; use one of .jsonl"),
        ("s.json", '{"data": ' + "[" * 100_000, "s.json line 1 is not valid JSON: too deeply nes"),
        ("s.json", '{"a":\n' * 100_000, "s.json line 1 is not valid JSON: too deeply nested."),
        ("s.json", '{"data": [' + "9" * 5000 + "]}", "line 1 is not valid JSON: a number with to"),
        ("s.json", '{"data": [\n{"paragraphs": oops}]}', "s.json line 2 is not valid JSON"),
        ("s.json", "{}\n{\n", "s.json line 2 is not valid JSON"),
        ("s.json", '"data"', "s.json is not a JSON object."),
        ("s.json", b'{"data": []}\n\xff', "s.json line 2 has bytes that are not UTF-8 text."),
        ("s.json", "", "s.json is empty."),
        ("s.csv", "question,context,answer\n", "There are no samples in"),
    ],
)
def test_other_files_are_refused(tmp_path, name, content, message):
    assert message in refused(write(tmp_path, name, content))


def test_a_folder_is_refused(tmp_path):
    assert refused(str(tmp_path)).endswith("is a folder, where a file of samples must be.")


@pytest.mark.parametrize("name", ["s.json", "s.jsonl", "s.csv", "s.tsv"])
def test_damaged_files_are_read_or_refused_but_nothing_else(tmp_path, name):
    rng = random.Random(name)
    whole = json.dumps(squad(asked("Who?", ("Normandy", 20)), asked("Why?", is_impossible=True)))
    table = "question,context,answer,answer_start\nWho?,In Rome,Rome,3\nWhy?,In Rome,,\n"
    content = table.replace(",", "\t") if name == "s.tsv" else table if "sv" in name else whole
    parts = ["", '"', "[]", "{}", "null", "-7", "[", "}", ",", "\n", "\t", "\\u0000", "\\ud800"]
    for _ in range(150):
        start = rng.randrange(len(content))
        end = start + rng.choice([0, 1, 1, 5, 20])
        source = write(tmp_path, name, content[:start] + rng.choice(parts) + content[end:])
        try:
            problems = read(source).problems
        except UsageError as error:
            assert str(error).endswith(".")
        else:
            answers(source)
            assert all(problem.endswith(".") for problem in problems)


# --- datasets and memory ------------------------------------------------------


def test_dataset(datasets):
    given = {"text": ["Normandy"], "answer_start": [20]}
    rows = Stream([{"question": "Where?", "context": CONTEXT, "answers": given}])
    datasets.splits = {"validation": rows}
    assert answers("squad") == {"Where?": [("Normandy", 20)]}
    assert read("squad").rows[0].where == "squad@validation row 1"


def test_samples_in_memory():
    rows = rows_in_memory(
        [
            ("Where?", "In Rome", "Rome"),
            ("Who?", "In Rome", None),
            {"question": "?", "context": "a a", "answers": [{"text": "a", "answer_start": 2}]},
            ("Where?", "In Rome"),
            ("Why?", "In Rome", "Bonn"),
            ("Why?", "In Rome", {1: 2}),
        ],
        "questions",
    )
    assert [(row.where, row.fields["answers"]) for row in rows.rows] == [
        ("sample 1", [{"text": "Rome", "start": 3}]),
        ("sample 2", []),
        ("sample 3", [{"text": "a", "start": 2}]),
    ]
    assert rows.problems == (
        "Sample 4 needs a question, a context and an answer or None.",
        "sample 5: the answer 'Bonn' is not in its context.",
        "sample 6 has an answer without a text in the field 'answer'.",
    )


def test_samples_in_memory_of_which_none_remains():
    with pytest.raises(UsageError, match=r"^None of the samples can be used: Sample 1 needs a que"):
        rows_in_memory(["Who?"], "questions")
    with pytest.raises(UsageError, match=r"^No samples were given\.$"):
        rows_in_memory([], "questions")
