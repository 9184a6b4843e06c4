import json
import random
from types import SimpleNamespace

import pytest

from unhorse.errors import UsageError
from unhorse.load import sample_fields
from unhorse.load.labels import DatasetLabel
from unhorse.load.samples import read_rows, rows_in_memory

from .helpers import Stream, refusal, write

CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
call NN I-NP O
. . O O

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER

"""


def read(source, **fields):
    return read_rows(source, "tokens", **fields)


def pairs(source, **fields):
    return [(row.fields["tokens"], row.fields["tags"]) for row in read(source, **fields).rows]


def refused(source, **fields):
    return refusal(source, "tokens", **fields)


# --- one word per line --------------------------------------------------------


@pytest.mark.parametrize("name", ["s.conll", "s.iob", "s.iob2", "s.bio", "s.TXT", "s.tsv", "s"])
@pytest.mark.parametrize("mark", ["\t", " ", "   "])
def test_words_with_tags_whatever_the_suffix(tmp_path, name, mark):
    lines = ["In O", "Rome B-LOC", "", "", "He O"]
    source = write(tmp_path, name, "\n".join(line.replace(" ", mark) for line in lines))
    rows = read(source)
    assert pairs(source) == [(["In", "Rome"], ["O", "B-LOC"]), (["He"], ["O"])]
    assert [row.where for row in rows.rows] == [f"{name} line 1", f"{name} line 5"]
    assert rows.problems == ()


def test_conll_2003(tmp_path):
    source = write(tmp_path, "eng.testa.txt", CONLL_2003)
    assert pairs(source) == [
        (["EU", "rejects", "German", "call", "."], ["B-ORG", "O", "B-MISC", "O", "O"]),
        (["Peter", "Blackburn"], ["B-PER", "I-PER"]),
    ]
    assert read(source).rows[0].where == "eng.testa.txt line 3"


def test_a_document_mark_without_a_blank_line_is_no_word(tmp_path):
    source = write(tmp_path, "s.conll", "a O\n-DOCSTART- O\nb O\n")
    assert pairs(source) == [(["a"], ["O"]), (["b"], ["O"])]


def test_wikiann_languages_are_removed(tmp_path):
    source = write(tmp_path, "dev", "en:In\tO\nen:Rome\tB-LOC\n\nen::\tO\nen:en:x\tO\n")
    assert pairs(source) == [(["In", "Rome"], ["O", "B-LOC"]), ([":", "en:x"], ["O", "O"])]
    source = write(tmp_path, "dev", "zh-min-nan:a\tO\nzh-min-nan:b\tO\n")
    assert pairs(source) == [(["a", "b"], ["O", "O"])]


def test_a_language_before_some_words_only_is_a_part_of_them(tmp_path):
    source = write(tmp_path, "dev", "en:In\tO\nRome\tB-LOC\n")
    assert pairs(source) == [(["en:In", "Rome"], ["O", "B-LOC"])]


def test_comments_at_the_head_of_a_sentence(tmp_path):
    content = "# sent_id = 1\n# text = In Rome\nIn O\nRome B-LOC\n\n# the end\n"
    assert pairs(write(tmp_path, "s.conll", content)) == [(["In", "Rome"], ["O", "B-LOC"])]


def test_hash_marks_that_are_words(tmp_path):
    content = "#\tO\nx\tO\n\n#tag\tB-X\n\nfine\tO\n#\tO\n"
    assert [tokens for tokens, _ in pairs(write(tmp_path, "s.conll", content))] == [
        ["#", "x"],
        ["#tag"],
        ["fine", "#"],
    ]
    assert pairs(write(tmp_path, "s.conll", "# O\n1 O\n")) == [(["#", "1"], ["O", "O"])]


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    source = write(tmp_path, "s.conll", b"\xef\xbb\xbfIn O\r\nRome B-LOC\r\n\r\nHe O\r\n")
    assert pairs(source) == [(["In", "Rome"], ["O", "B-LOC"]), (["He"], ["O"])]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("He\tO\nleft", "s.conll line 5 has no tag."),
        ("He\tO\nleft\t", "s.conll line 5 has no tag."),
        ("He\tPRP\tO", "s.conll line 4 has 3 columns where most lines have 2."),
        ("He\tO\n\tO", "s.conll line 4 has a blank word."),
        ("New York\tB-LOC", "s.conll line 4 has white space within its word 'New York'."),
        ("a\u2028b\tO", r"s.conll line 4 has white space within its word 'a\u2028b'."),
    ],
)
def test_a_bad_sentence_is_left_out_and_the_others_stay(tmp_path, bad, problem):
    source = write(tmp_path, "s.conll", f"In\tO\nRome\tB-LOC\n\n{bad}\n\nThen\tO\n")
    assert [tokens for tokens, _ in pairs(source)] == [["In", "Rome"], ["Then"]]
    assert read(source).problems == (problem,)


# --- records ------------------------------------------------------------------


@pytest.mark.parametrize("tokens", ["tokens", "words", "Tokens", "word"])
@pytest.mark.parametrize("tags", ["tags", "ner_tags", "labels", "ner", "NER-Tags"])
@pytest.mark.parametrize("name", ["s.jsonl", "s.json"])
def test_fields_are_guessed_from_common_names(tmp_path, tokens, tags, name):
    record = {"id": 1, "text": "In Rome", tokens: ["In", "Rome"], tags: ["O", 5]}
    line = json.dumps(record)
    assert pairs(write(tmp_path, name, line)) == [(["In", "Rome"], ["O", 5])]
    assert pairs(write(tmp_path, "s.json", f"[{line}]")) == [(["In", "Rome"], ["O", 5])]
    assert pairs(write(tmp_path, "s.json", json.dumps(record, indent=1))) == [
        (["In", "Rome"], ["O", 5])
    ]


def test_json_lines_in_a_json_file(tmp_path):
    lines = '{"tokens": ["a"], "tags": [0]}\n{"tokens": ["b"], "tags": [1]}\n'
    assert pairs(write(tmp_path, "s.json", lines)) == [(["a"], [0]), (["b"], [1])]


def test_entity_tags_come_before_others(tmp_path):
    line = '{"tokens": ["a"], "pos_tags": [9], "chunk_tags": [8], "ner_tags": [1]}'
    assert pairs(write(tmp_path, "s.jsonl", line)) == [(["a"], [1])]


def test_named_fields(tmp_path):
    source = write(tmp_path, "s.jsonl", '{"sentence": ["a"], "pos": [9], "tags": [1]}')
    assert pairs(source, text_field="sentence", label_field="pos") == [(["a"], [9])]
    assert refused(source, text_field="body").endswith(
        "s.jsonl line 1 has no field 'body'; its fields are: 'sentence', 'pos', 'tags'."
    )


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({"tokens": ["a", "b"], "tags": ["O"]}, "has 2 words but 1 tags."),
        ({"tokens": [], "tags": []}, "has no words."),
        ({"tokens": "a b", "tags": ["O"]}, "has a str in the field 'tokens', where a list of"),
        ({"tokens": ["a"], "tags": "O"}, "has a str in the field 'tags', where a list of tags"),
        ({"tokens": ["a"]}, "has no field that looks like the tags (ner_tags, tags,"),
        ({"tags": ["O"]}, "has no field that looks like the words (tokens, words,"),
        ({"tokens": [7], "tags": ["O"]}, "has a int among its words."),
        ({"tokens": ["a\0"], "tags": [None]}, "has a NoneType among its tags."),
        ({"tokens": ["a"], "tags": [True]}, "has a bool among its tags."),
        ({"tokens": ["a"], "tags": [[1]]}, "has a list among its tags."),
        ({"tokens": ["a"], "tags": [" "]}, "has a blank tag."),
        ({"tokens": ["a"], "tags": [10**4000]}, "has a number among its tags that is too large."),
        ({"tokens": ["\0"], "tags": ["O"]}, "has a blank word."),
        ({"tokens": ["a\0b"], "tags": ["O"]}, "has white space within its word 'a b'."),
        (["a", "O"], "is not a JSON object."),
    ],
)
def test_a_bad_record_is_left_out_and_the_others_stay(tmp_path, bad, problem):
    good = '{"tokens": ["In"], "tags": ["O"]}'
    source = write(tmp_path, "s.jsonl", f"{good}\n{json.dumps(bad)}\n" + good.replace("In", "At"))
    assert pairs(source) == [(["In"], ["O"]), (["At"], ["O"])]
    [found] = read(source).problems
    assert found.startswith(f"s.jsonl line 2 {problem}") and found.endswith(".")
    alone = write(tmp_path, "alone.jsonl", json.dumps(bad))
    assert refused(alone).startswith(f"There are no samples in {alone!r}: alone.jsonl line 1 ")


def test_characters_that_no_tokenizer_takes(tmp_path):
    line = r'{"tokens": [" a\ud83dz ", "\ud83d\ude00\u0000"], "tags": ["B-\ud800", "O"]}'
    assert pairs(write(tmp_path, "s.jsonl", line)) == [
        (["a\ufffdz", "\U0001f600"], ["B-\ufffd", "O"])
    ]


def test_of_equal_sentences_the_first_stays(tmp_path):
    source = write(tmp_path, "s.conll", "a O\n\nb O\n\na B-X\n\nb\n")
    assert pairs(source) == [(["a"], ["O"]), (["b"], ["O"])]
    assert read(source).problems == ("s.conll line 7 has no tag.",)


def test_too_many_problems(tmp_path, monkeypatch):
    monkeypatch.setattr(sample_fields, "MAX_PROBLEMS", 2)
    good = read(write(tmp_path, "s.conll", "a O\n\nb\n\nc\n"))
    assert len(good.problems) == 2
    assert refused(write(tmp_path, "s.conll", "a O\n\nb\n\nc\n\nd\n")) == (
        "More than 2 samples cannot be used: s.conll line 3 has no tag."
    )


# --- files of other kinds -----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "s.jsonl",
            '{"text": "a", "label": 0}',
            "(tokens, words, token, word, token_list, word_li",
        ),
        ("s.jsonl", '{"text": "a", "label": 0}', "; its fields are: 'text', 'label'."),
        ("s.json", '{"version": "1", "data": []}', "its fields are: 'version', 'data'."),
        ("s.tsv", "sentence\tlabel\nA fine film.\t1\n", "white space within its word 'A fine fi"),
        ("s.txt", "word\nword\n", "s.txt line 1 has no tag."),
        ("s.csv", "tokens,tags\na,O\n", "s.csv is not a kind of sample file; use one of .jsonl"),
        ("s.xml", "<a/>", "s.xml is not a kind of sample file"),
        ("s.conll", " \n\n", "s.conll is empty."),
        ("s.conll", "# only\n# comments\n", "There are no samples in"),
        ("s.conll", "-DOCSTART- O\n", "There are no samples in"),
        ("s", b"a\tO\n\xff\xfe\tO\n", "s line 2 has bytes that are not UTF-8 text."),
        ("s", b"\x7fELF\x01\0\0", "s line 1 has bytes that are not UTF-8 text."),
        ("s.json", "[" * 100_000, "s.json line 1 is not valid JSON: too deeply nested."),
        ("s.json", '{"tokens": ' + "[" * 100_000, "line 1 is not valid JSON: too deeply nested."),
        ("s.json", '{"tokens": ["a"], "tags": [' + "9" * 5000 + "]}", "a number with too many di"),
        ("s.json", '{"tokens": ["a"],\n "tags": oops}', "s.json line 2 is not valid JSON"),
        ("s.json", "7", "s.json is not a JSON object."),
    ],
)
def test_other_files_are_refused(tmp_path, name, content, message):
    assert message in refused(write(tmp_path, name, content))


def test_a_folder_is_refused(tmp_path):
    assert refused(str(tmp_path)) == (
        f"{str(tmp_path)!r} is a folder, where a file of samples must be."
    )


def test_a_missing_file_is_not_a_dataset():
    assert refused("none.conll") == "There is no sample file or folder 'none.conll'."


@pytest.mark.parametrize("name", ["s.conll", "s.jsonl", "s.json"])
def test_damaged_files_are_read_or_refused_but_nothing_else(tmp_path, name):
    rng = random.Random(name)
    parts = [
        *('"', "tokens", "tags", '{"tokens": ["a"], "tags": ["O"]}', ",", "\t", "\n", "\r", "# "),
        *("{", "}", "[", "]", ":", "1", " ", "a b", "a\tO\n", "-DOCSTART-", "en:", "\\u0000"),
    ]
    for _ in range(150):
        source = write(tmp_path, name, "".join(rng.choices(parts, k=rng.randrange(1, 40))))
        try:
            rows = read(source)
        except UsageError as error:
            assert str(error).endswith(".")
        else:
            assert all(problem.endswith(".") for problem in rows.problems)
            for tokens, tags in pairs(source):
                assert len(tokens) == len(tags) > 0
                assert all(len(token.split()) == 1 for token in tokens)


# --- datasets and memory ------------------------------------------------------


def test_dataset_tags_carry_their_declared_names(datasets):
    stream = Stream([{"tokens": ["In", "Rome", "!"], "ner_tags": [0, 1, 7]}])
    names = SimpleNamespace(names=["O", "B-LOC"])
    stream.features = {
        "tokens": SimpleNamespace(feature=SimpleNamespace()),
        "ner_tags": SimpleNamespace(feature=names),
    }
    datasets.splits = {"test": stream}
    tags = [DatasetLabel(0, "O"), DatasetLabel(1, "B-LOC"), 7]
    assert pairs("org/ner") == [(["In", "Rome", "!"], tags)]
    assert read("org/ner").rows[0].where == "org/ner@test row 1"


def test_samples_in_memory():
    rows = rows_in_memory(
        [(["In", "Rome"], ("O", 1)), {"words": ("He",), "ner": ["O"]}, (["a"],), (["a"], [])],
        "tokens",
    )
    assert [(row.where, row.fields) for row in rows.rows] == [
        ("sample 1", {"tokens": ["In", "Rome"], "tags": ["O", 1]}),
        ("sample 2", {"tokens": ["He"], "tags": ["O"]}),
    ]
    assert rows.problems == (
        "Sample 3 needs words and their tags.",
        "sample 4 has 1 words but 0 tags.",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "No samples were given."),
        ([7], "None of the samples can be used: Sample 1 needs words and their tags."),
        ([{1: ["a"], "tags": ["O"]}], "None of the samples can be used: sample 1 has no field"),
        ([(["a"], [10**5000])], "None of the samples can be used: sample 1 has a number"),
    ],
)
def test_samples_in_memory_of_which_none_remains(given, message):
    with pytest.raises(UsageError) as caught:
        rows_in_memory(given, "tokens")
    assert str(caught.value).startswith(message)


def test_texts_in_memory():
    rows = rows_in_memory([("a ", 1), {"text": "b", "label": "x", "id": 3}])
    assert rows.problems == ()
    assert [(row.where, row.fields) for row in rows.rows] == [
        ("sample 1", {"text": "a ", "label": 1}),
        ("sample 2", {"text": "b", "label": "x", "id": 3}),
    ]


@pytest.mark.parametrize("bad", [("a",), ("a", 1, 2), "ab", 7, {"text": "a"}, (7, 1), {"label": 1}])
def test_a_text_in_memory_without_its_label(bad):
    with pytest.raises(UsageError) as caught:
        rows_in_memory([("a", 0), ("b", 1), bad])
    assert str(caught.value) == "Sample 3 needs a text and a label."
