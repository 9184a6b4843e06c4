"""A question file in the form of SQuAD -> which article each of its contexts is from.

The rows that a sample reader gives have no titles. They are needed for moving a question
away from its article: another paragraph of the same one may well answer it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unhorse.load.sample_fields import cleaned
from unhorse.load.samples import MAX_FILE_BYTES


def titles_in(source: str) -> dict[str, str] | None:
    """The title of its article by context; None for a source of another form.

    A context whose article has no title is not in it.
    """
    path = Path(source)
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    if path.stat().st_size > MAX_FILE_BYTES:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        # What is wrong with it is said by the reader of its rows.
        return None
    return titles_of(content)


def titles_of(content: Any) -> dict[str, str] | None:
    """The title by context of what a file says; None if it is of another form.

    >>> article = {"title": "Rome", "paragraphs": [{"context": "It is old.", "qas": []}]}
    >>> titles_of({"data": [article, {"paragraphs": [{"context": "No title."}]}]})
    {'It is old.': 'Rome'}
    >>> titles_of([article]) is None
    True
    """
    articles = content.get("data") if isinstance(content, Mapping) else None
    if not isinstance(articles, list):
        return None
    found: dict[str, str] = {}
    for article in articles:
        if not isinstance(article, Mapping) or not isinstance(article.get("title"), str):
            continue
        paragraphs = article.get("paragraphs")
        for paragraph in paragraphs if isinstance(paragraphs, list) else ():
            context = paragraph.get("context") if isinstance(paragraph, Mapping) else None
            if isinstance(context, str):
                found[cleaned(context)] = article["title"]
    return found
