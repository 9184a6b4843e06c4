import json
import random
import sys
from types import SimpleNamespace

import pytest

from unhorse.errors import UsageError
from unhorse.load import samples as samples_module
from unhorse.load.labels import DatasetLabel
from unhorse.load.samples import read_rows, sample_key

from .helpers import Stream, write
from .helpers import refusal as refused


def pairs(source, **fields):
    return [(row.fields["text"], row.fields["label"]) for row in read_rows(source, **fields).rows]


# --- formats ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["s.jsonl", "s.ndjson", "s.JSONL", "s.json"])
def test_json_lines(tmp_path, name):
    source = write(tmp_path, name, '{"text": "Good.", "label": 1}\n{"text": "Bad.", "label": 0}\n')
    rows = read_rows(source).rows
    assert [row.fields for row in rows] == [
        {"text": "Good.", "label": 1},
        {"text": "Bad.", "label": 0},
    ]
    assert [row.where for row in rows] == [f"{name} line 1", f"{name} line 2"]


def test_json_list(tmp_path):
    source = write(
        tmp_path, "s.json", '\n[{"text": "a", "label": "x"},\n {"text": "b", "label": 2}]'
    )
    rows = read_rows(source).rows
    assert pairs(source) == [("a", "x"), ("b", 2)]
    assert rows[1].where == "s.json item 2"


def test_csv_with_quotes_and_line_breaks(tmp_path):
    source = write(tmp_path, "s.csv", 'id,text,label\n1,"one, two\nthree",0\n\n2,"a ""b""",1\n')
    rows = read_rows(source).rows
    assert pairs(source) == [("one, two\nthree", "0"), ('a "b"', "1")]
    assert [row.where for row in rows] == ["s.csv line 2", "s.csv line 5"]


def test_csv_divided_by_semicolons(tmp_path):
    assert pairs(write(tmp_path, "s.csv", "text;label\na, b;0\n")) == [("a, b", "0")]


def test_tsv_without_quoting_keeps_stray_quotation_marks(tmp_path):
    source = write(tmp_path, "s.tsv", 'sentence\tlabel\n"he said\t1\nand left"\t0\n')
    assert pairs(source) == [('"he said', "1"), ('and left"', "0")]


def test_tsv_with_quoting(tmp_path):
    source = write(tmp_path, "s.tsv", 'text\tlabel\n"a\tb\nc ""d"""\t1\nplain\t0\n')
    assert pairs(source) == [('a\tb\nc "d"', "1"), ("plain", "0")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("A fine film.\t1\nA dull one.\t0\n", [("A fine film.", "1"), ("A dull one.", "0")]),
        ("pos\tgood\npos\tfine\nneg\tbad\n", [("good", "pos"), ("fine", "pos"), ("bad", "neg")]),
    ],
)
def test_headerless_tsv(tmp_path, content, expected):
    assert pairs(write(tmp_path, "s.tsv", content)) == expected


def test_headerless_rows_count_from_line_one(tmp_path):
    assert read_rows(write(tmp_path, "s.tsv", "a b\t1\nc d\t0\n")).rows[0].where == "s.tsv line 1"


def test_a_header_with_unusual_names_is_not_a_sample(tmp_path):
    source = write(tmp_path, "s.csv", "phrase_1,mark\nfine,good\nnice,good\n")
    assert "s.csv line 2 has no field that looks like the text" in refused(source)
    assert pairs(source, text_field="phrase_1", label_field="mark")[0] == ("fine", "good")


def test_folder_of_examples(tmp_path):
    write(tmp_path, "class_1_example_10.txt", "ten")
    write(tmp_path, "class_1_example_2.txt", "two\n")
    write(tmp_path, "class_0_example_1.txt", "\ufeffone")
    write(tmp_path, "class_0_example_3.txt", "  \n")
    write(tmp_path, "source_class_0_target_class_1_example_4.txt", "poisoned")
    write(tmp_path, "readme.md", "no sample")
    rows = read_rows(str(tmp_path)).rows
    assert pairs(str(tmp_path)) == [("one", "0"), ("two", "1"), ("ten", "1")]
    assert rows[0].where == "class_0_example_1.txt"


# --- fields -------------------------------------------------------------------


@pytest.mark.parametrize("text", ["text", "Sentence", "REVIEW", "headline", "Review Text", "tweet"])
@pytest.mark.parametrize(
    "label", ["Label", "labels", "sentiment", "Class", "category", "gold-label"]
)
def test_fields_are_guessed_from_common_names(tmp_path, text, label):
    line = json.dumps({"id": 1, label: "x", text: "words"})
    assert pairs(write(tmp_path, "s.jsonl", line)) == [("words", "x")]


def test_likelier_names_win_whatever_their_order(tmp_path):
    source = write(tmp_path, "s.jsonl", '{"title": "t", "score": 3, "text": "words", "label": 0}')
    assert pairs(source) == [("words", 0)]
    assert pairs(source, text_field="Title", label_field="score") == [("t", 3)]


def test_named_field_that_is_missing(tmp_path):
    source = write(tmp_path, "s.jsonl", '{"text": "a", "label": 0}')
    message = refused(source, text_field="body")
    assert message == "s.jsonl line 1 has no field 'body'; its fields are: 'text', 'label'."


# --- bad input ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.jsonl", '{"text": "a", "label": 0}\n\n{"text": \n', "s.jsonl line 3 is not valid JSON"),
        ("s.jsonl", "[1]\n", "s.jsonl line 1 is not a JSON object."),
        ("s.jsonl", '{"text": "a", "label": ' + "9" * 5000 + "}", "s.jsonl line 1 is not valid"),
        ("s.jsonl", "[" * 100_000, "s.jsonl line 1 is not valid JSON"),
        ("s.json", '[{"text": "a",\n "label": 0},\n oops]', "s.json line 3 is not valid JSON"),
        ("s.json", '[{"text": "a", "label": 0}, 7]', "s.json item 2 is not a JSON object."),
        ("s.jsonl", '{"text": "a"}', "s.jsonl line 1 has no field that looks like the label"),
        ("s.jsonl", '{"label": 1}', "s.jsonl line 1 has no field that looks like the text"),
        (
            "s.jsonl",
            '{"text": "a", "label": 0}\n{"label": 0}',
            "s.jsonl line 2 has no field 'text'.",
        ),
        (
            "s.jsonl",
            '{"text": ["a"], "label": 0}',
            "s.jsonl line 1 has a list in the field 'text', where a text must be.",
        ),
        (
            "s.jsonl",
            '{"text": "a", "label": null}',
            "s.jsonl line 1 has no label in the field 'label'.",
        ),
        ("s.csv", "text,label\na,0\nb\n", "s.csv line 3 has no label in the field 'label'."),
        ("s.csv", "text,label\na,b,0\n", "s.csv line 2 has 3 columns where the first row has 2."),
        ("s.csv", 'text,label\na,0\n"b,1\nc,0\n', "s.csv line 3 is not a valid row"),
        ("s.csv", "text,label\n", "There are no samples in"),
        ("s.csv", "", "s.csv is empty."),
        ("s.jsonl", "\ufeff \r\n\n", "s.jsonl is empty."),
        ("s.jsonl", '{"text": " ", "label": 0}', "There are no samples in"),
        ("s.json", "[]", "There are no samples in"),
        ("s.jsonl", b'{"text": "a"}\n\xff\xfe', "s.jsonl line 2 has bytes that are not UTF-8"),
        ("s.csv", b"text,label\nab\0c,1\n", "s.csv line 2 has bytes that are not UTF-8 text."),
        ("s.tsv", "text\tlabel\na\t0\n".encode("utf-16"), "s.tsv line 1 has bytes that are not"),
        ("s.parquet", "PAR1", "s.parquet is not a kind of sample file; use one of .jsonl"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path, name, content, message):
    assert message in refused(write(tmp_path, name, content))


@pytest.mark.parametrize(
    "source",
    ["./none", "/none/at/all", "none.jsonl", "data/none.csv", "a\\b", "~nobody0/x", "a\0b"],
)
def test_missing_paths(source):
    assert refused(source) == f"There is no sample file or folder {source!r}."


def test_a_name_too_long_for_a_path():
    assert "cannot be read" in refused("x" * 5000)


def test_folder_without_examples(tmp_path):
    assert "has no files named like class_0_example_12.txt." in refused(str(tmp_path))


def test_links_out_of_a_folder_are_refused(tmp_path):
    secret = write(tmp_path, "secret", "not a sample")
    folder = tmp_path / "examples"
    folder.mkdir()
    (folder / "class_0_example_1.txt").symlink_to(secret)
    message = refused(str(folder))
    assert message == "class_0_example_1.txt is a link that leads out of its folder."


def test_too_large_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(samples_module, "MAX_FILE_BYTES", 4)
    assert "s.csv is larger than 0 MiB" in refused(write(tmp_path, "s.csv", "text,label\na,0\n"))


def test_unreadable_file(tmp_path, monkeypatch):
    def fail(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(samples_module, "_read", fail)
    assert "cannot be read: Permission denied." in refused(write(tmp_path, "s.csv", "x"))


def test_control_characters_in_a_file_name_are_escaped(tmp_path):
    assert refused(write(tmp_path, "s\x1b[2J.csv", "")) == r"s\x1b[2J.csv is empty."


@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.csv", "s.tsv"])
def test_damaged_files_are_read_or_refused_but_nothing_else(tmp_path, name):
    rng = random.Random(name)
    parts = [
        '"',
        "text",
        "label",
        ",",
        "\t",
        "\n",
        "\r",
        "{",
        "}",
        "[",
        "]",
        ":",
        "1",
        "a b",
        "\\u0000",
    ]
    for _ in range(200):
        source = write(tmp_path, name, "".join(rng.choices(parts, k=rng.randrange(1, 40))))
        try:
            rows = read_rows(source).rows
        except UsageError as error:
            assert str(error).endswith(".")
        else:
            assert all(isinstance(row.fields["text"], str) and row.fields["text"] for row in rows)


# --- odd but good input -------------------------------------------------------


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    content = b'\xef\xbb\xbf{"text": "a", "label": 0}\r\n\r\n{"text": "b", "label": 1}\r\n'
    source = write(tmp_path, "s.jsonl", content)
    assert pairs(source) == [("a", 0), ("b", 1)]
    assert read_rows(source).rows[1].where == "s.jsonl line 3"
    assert pairs(write(tmp_path, "s.csv", b"\xef\xbb\xbftext,label\r\na,0\r\n")) == [("a", "0")]


def test_other_line_separators_stay_inside_a_text(tmp_path):
    source = write(tmp_path, "s.jsonl", '{"text": "a\u2028b\x85c", "label": 0}\n')
    assert pairs(source) == [("a\u2028b\x85c", 0)]


def test_characters_that_no_tokenizer_takes(tmp_path):
    source = write(
        tmp_path, "s.jsonl", r'{"text": "a\ud83dz \ud83d\ude00 \u0000b\udc00", "label": 0}'
    )
    [(text, _)] = pairs(source)
    assert text == "a\ufffdz \U0001f600  b\ufffd"
    assert text.encode()


def test_long_csv_fields(tmp_path):
    text = "word " * 60_000
    source = write(tmp_path, "s.csv", f'text,label\n"{text}",1\n')
    assert pairs(source) == [(text.strip(), "1")]


def test_of_equal_texts_the_first_stays(tmp_path):
    source = write(tmp_path, "s.csv", "text,label\na,0\nb,1\n a ,0\na,1\n")
    assert pairs(source) == [("a", "0"), ("b", "1")]
    assert [row.where for row in read_rows(source).rows] == ["s.csv line 2", "s.csv line 3"]


def test_sample_key_depends_on_the_text_alone():
    assert sample_key("a") == sample_key("a") != sample_key("b")
    assert len(sample_key("\ud800")) == 16


# --- datasets -----------------------------------------------------------------


def stream(*labels, names=None):
    made = Stream({"sentence": f"text {i}", "label": label} for i, label in enumerate(labels))
    declared = {"sentence": SimpleNamespace(), "label": SimpleNamespace(names=names)}
    made.features = declared if names else None
    return made


def test_dataset_never_runs_code_and_streams(datasets):
    datasets.splits = {"train": stream(0), "test": stream(1), "validation": stream(0, 1)}
    assert pairs("org/name:part") == [("text 0", 0), ("text 1", 1)]
    assert datasets.calls == [
        (("org/name", "part"), {"streaming": True, "trust_remote_code": False})
    ]


@pytest.mark.parametrize(
    ("source", "splits", "where"),
    [
        ("imdb", ["train", "test", "validation"], "imdb@validation row 1"),
        ("imdb", ["train", "test"], "imdb@test row 1"),
        ("org/imdb:a", ["train", "other"], "org/imdb:a@train row 1"),
        ("imdb", ["odd"], "imdb@odd row 1"),
        ("org/imdb:a@train", ["test", "train"], "org/imdb:a@train row 1"),
    ],
)
def test_dataset_split(datasets, source, splits, where):
    datasets.splits = {name: stream(0) for name in splits}
    assert read_rows(source).rows[0].where == where


def test_dataset_split_that_is_missing(datasets):
    datasets.splits = {"train": stream(0), "test": stream(0)}
    assert refused("imdb@dev") == "'imdb@dev' has no split 'dev'; its splits are: train, test."


def test_dataset_rows_are_limited(datasets):
    datasets.splits = {"test": stream(*[0] * 9000)}
    assert len(read_rows("imdb").rows) == 4000


def test_dataset_labels_carry_their_declared_names(datasets):
    datasets.splits = {"test": stream(1, -1, names=["neg", "pos"])}
    assert pairs("imdb") == [("text 0", DatasetLabel(1, "pos")), ("text 1", -1)]


def test_dataset_that_does_not_exist(datasets):
    assert refused("org/none") == (
        "'org/none' is not a file or folder here and could not be loaded as a Hugging Face "
        "dataset: Dataset doesn't exist on the Hub."
    )


def test_dataset_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "`pip install 'unhorse[datasets]'`." in refused("org/name")


def test_a_path_takes_no_split(tmp_path, monkeypatch, datasets):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    assert refused("here@test") == "'here' is a path here, so it takes no config or split."
    assert datasets.calls == []
