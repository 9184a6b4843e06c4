"""CoNLL-style text, or records with words and tags -> Rows with `tokens` and `tags`."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from unhorse.errors import UsageError
from unhorse.load.labels import DatasetLabel
from unhorse.load.sample_fields import Found, chosen, cleaned, gathered, misplaced, shortened
from unhorse.types import Row

TOKEN_FIELDS = ("tokens", "words", "token", "word", "token_list", "word_list")
"""Common names of a sentence's words, the likeliest first."""

TAG_FIELDS = (
    *("ner_tags", "tags", "ner", "ner_labels", "ner_tag", "iob_tags", "bio_tags", "entity_tags"),
    *("labels", "label", "tag", "tag_list", "token_labels", "upos", "pos_tags"),
)
"""Common names of their tags; a dataset with several kinds of tags has them beside others."""

MAX_TAG_NUMBER = 10**6

_Line = tuple[int, list[str]]
"""The number of a line, and its columns."""

_LANGUAGE = re.compile(r"(?:[a-z]{2,3}|simple)(?:-[a-z]{1,8})*:")
_TAGGED_HASH = re.compile(r"#(?: +[^\s#]\S*){0,2} +(?:O|[BI]-\S+)\s*")


def token_rows(
    records: Iterable[Found], text_field: str | None, label_field: str | None
) -> tuple[list[Row], tuple[str, ...]]:
    """The records as rows with `tokens` and `tags`, and a sentence for each one left out.

    Every record is looked at by itself. Of equal sentences the first one stays,
    also where their tags differ.

    >>> token_rows([("line 1", {"words": ["In", "Rome"], "ner": ["O", "B-LOC"]})], None, None)[0]
    [Row(where='line 1', fields={'tokens': ['In', 'Rome'], 'tags': ['O', 'B-LOC']})]
    """

    def row_of(where: str, record: Mapping[str, Any]) -> tuple[Hashable, Row]:
        tokens = _items(where, record, text_field, TOKEN_FIELDS, "words")
        tags = _items(where, record, label_field, TAG_FIELDS, "tags")
        words = [_word(where, token) for token in tokens]
        if not words:
            raise UsageError(f"{where} has no words.")
        if len(words) != len(tags):
            raise UsageError(f"{where} has {len(words)} words but {len(tags)} tags.")
        fields = {"tokens": words, "tags": [_tag(where, tag) for tag in tags]}
        return tuple(words), Row(where, fields)

    return gathered(records, row_of)


def conll_records(name: str, text: str) -> Iterator[Found]:
    """The sentences of a file with one word per line, its tag in the last column.

    Blank lines and `-DOCSTART-` lines divide sentences, and lines that start with
    `# ` before the first word of one are comments. A language before every word
    of the file (`en:Rome`, as in WikiANN) is removed.

    Args:
        name: the file's name, for messages.
        text: its content.

    >>> list(conll_records("s.conll", "In O\\nRome B-LOC\\n\\nHe O\\n"))[0]
    ('s.conll line 1', {'tokens': ['In', 'Rome'], 'tags': ['O', 'B-LOC']})
    """
    # The file is gone through again and again, because all its columns at once
    # take many times its size.
    prefix = _language(columns[0] for lines in _sentences(text) for _, columns in lines)
    width = _width(len(columns) for lines in _sentences(text) for _, columns in lines)
    for lines in _sentences(text):
        yield _sentence(name, lines, width, prefix)


def _width(widths: Iterable[int]) -> int:
    """The most common number of columns of lines that have a tag.

    >>> _width([1, 1, 1, 4, 4, 2])
    4
    """
    counts = Counter(width for width in widths if width > 1)
    return max(counts, key=counts.__getitem__, default=0)


def _sentence(name: str, lines: list[_Line], width: int, prefix: str) -> Found:
    for number, columns in lines:
        if len(columns) < 2:
            return f"{name} line {number} has no tag."
        if len(columns) != width:
            return f"{name} line {number} has {len(columns)} columns where most lines have {width}."
    words = [columns[0].removeprefix(prefix) for _, columns in lines]
    return f"{name} line {lines[0][0]}", {"tokens": words, "tags": [c[-1] for _, c in lines]}


def _sentences(text: str) -> Iterator[list[_Line]]:
    lines: list[_Line] = []
    # Not splitlines(): some of its line ends are characters that tweets have as words.
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        columns = _columns(line)
        if not line.strip() or columns[0] == "-DOCSTART-":
            if lines:
                yield lines
            lines = []
        elif lines or not _is_comment(line):
            lines.append((number, columns))
    if lines:
        yield lines


def _columns(line: str) -> list[str]:
    r"""The columns of a line; a word may be missing, which leaves a blank column.

    >>> _columns("Rome NNP B-LOC\n"), _columns("New York\t\tB-LOC\n"), _columns("\tO\n")
    (['Rome', 'NNP', 'B-LOC'], ['New York', 'B-LOC'], ['', 'O'])
    """
    line = line.rstrip()
    word, *others = line.split("\t") if "\t" in line else line.strip(" ").split(" ")
    return [word, *(column for column in others if column.strip())]


def _is_comment(line: str) -> bool:
    """Whether a line at the head of a sentence is none of its words.

    >>> [_is_comment(line) for line in ("# sent_id = 1", "# O", "#\tO", "#tag O")]
    [True, False, False, False]
    """
    return line.startswith("# ") and not _TAGGED_HASH.fullmatch(line)


def _language(words: Iterator[str]) -> str:
    """The language that every word starts with, or nothing.

    >>> _language(iter(["en:In", "en:Rome"])), _language(iter(["re:In", "Rome"]))
    ('en:', '')
    """
    found = _LANGUAGE.match(next(words, ""))
    return found[0] if found and all(word.startswith(found[0]) for word in words) else ""


def _items(
    where: str, record: Mapping[str, Any], asked: str | None, common: tuple[str, ...], kind: str
) -> list[Any] | tuple[Any, ...]:
    field = chosen(where, record, asked, common, f"{kind} ({', '.join(common)})")
    items = record[field]
    if not isinstance(items, list | tuple):
        raise UsageError(misplaced(where, items, field, f"a list of {kind}"))
    return items


def _word(where: str, token: object) -> str:
    if not isinstance(token, str):
        raise UsageError(f"{where} has a {type(token).__name__} among its words.")
    word = cleaned(token).strip()
    if not word:
        raise UsageError(f"{where} has a blank word.")
    if len(word.split()) > 1:
        raise UsageError(f"{where} has white space within its word {shortened(word)}.")
    return word


def _tag(where: str, tag: object) -> str | int | DatasetLabel:
    if isinstance(tag, str):
        tag = cleaned(tag).strip()
        if not tag:
            raise UsageError(f"{where} has a blank tag.")
        return tag
    if not isinstance(tag, int | DatasetLabel) or isinstance(tag, bool):
        raise UsageError(f"{where} has a {type(tag).__name__} among its tags.")
    if isinstance(tag, int) and abs(tag) > MAX_TAG_NUMBER:
        raise UsageError(f"{where} has a number among its tags that is too large.")
    return tag
