"""A synonym file and a text -> the words that can be replaced, and by what.

A word can be replaced where it is one token and a synonym is one token too: then the
replaced text is tokenised exactly like the text itself, but for that token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhorse.errors import UsageError
from unhorse.tasks.slots import STAND_IN, tokens_of
from unhorse.types import LoadedModel

Synonyms = dict[str, tuple[str, ...]]
"""Words in lower case, and what can stand for them, the nearest first."""

_STOP_WORDS = """
a an the this that these those such some any each every either neither no none all both
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one ones who whom whose which what when where why how whether
am is are was were be been being do does did doing done have has had having
can could may might must shall should will would ought
and or but nor so yet if then else than as because while until unless though although since
of at by for with about against between among into onto through during before after above
below to from up down in out on off over under again further upon within without toward
towards per via like not only own same too very just also here there now ever never once
"""

STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that carry the sentence rather than a meaning, and are left as they are."""

_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{2,}(?![\w'’-])")


@dataclass(frozen=True)
class Place:
    """A word of a text that can be replaced.

    `words` are what may stand there and `ids` their tokens; the first is the word itself.
    """

    begin: int
    end: int
    column: int
    words: tuple[str, ...]
    ids: tuple[int, ...]


def read_synonyms(path: Path) -> Synonyms:
    """Reads a JSON file of words and their synonyms, or of such tables by part of speech.

    Raises:
        UsageError: there is no such file, or it says something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The synonym file {path} cannot be read.") from error
    except ValueError as error:
        raise UsageError(f"The synonym file {path} is not valid JSON.") from error
    found = merged(content)
    if not found:
        raise UsageError(
            f"The synonym file {path} is not an object of words with lists of synonyms, "
            "nor one of such objects by part of speech."
        )
    return found


def merged(content: Any) -> Synonyms | None:
    """What a synonym file says as one table; None if it is of another form.

    >>> merged({"noun": {"Film": ["movie"]}, "verb": {"film": ["shoot", "movie"]}})
    {'film': ('movie', 'shoot')}
    >>> merged({"film": "movie"}) is None
    True
    """
    if not isinstance(content, dict):
        return None
    by_speech = bool(content) and all(isinstance(value, dict) for value in content.values())
    table: dict[str, dict[str, None]] = {}
    for part in content.values() if by_speech else (content,):
        for word, others in part.items():
            if not isinstance(others, list) or not all(isinstance(o, str) for o in others):
                return None
            table.setdefault(word.lower(), {}).update(dict.fromkeys(others))
    return {word: tuple(others) for word, others in table.items()}


def like(word: str, other: str) -> str:
    """The other word with the capitals of the first.

    >>> like("Good", "fine"), like("GOOD", "fine"), like("good", "fine")
    ('Fine', 'FINE', 'fine')
    """
    if word.isupper() and len(word) > 1:
        return other.upper()
    return other.capitalize() if word[0].isupper() else other


def replaced(text: str, places: Sequence[Place], choices: Sequence[int]) -> str:
    """The text with the chosen word at every place.

    >>> replaced("a good film", [Place(2, 6, 2, ("good", "fine"), (5, 6))], [1])
    'a fine film'
    """
    parts, behind = [], 0
    for place, choice in zip(places, choices, strict=True):
        parts += [text[behind : place.begin], place.words[choice]]
        behind = place.end
    return "".join([*parts, text[behind:]])


class Thesaurus:
    """The synonyms that a model's tokenizer knows as one token each.

    Args:
        loaded: whose tokenizer, and how long a text may be.
        synonyms: all synonyms.
        most: how many words may stand at a place, with the word itself.
    """

    def __init__(self, loaded: LoadedModel, synonyms: Synonyms, most: int) -> None:
        self.loaded, self.synonyms, self.most = loaded, synonyms, most
        self._lead = self._encoded(STAND_IN)
        self._known: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}
        self._places: dict[str, tuple[Place, ...]] = {}

    def places(self, text: str) -> tuple[Place, ...]:
        """The words of a text that can be replaced, in order."""
        if text not in self._places:
            self._places[text] = tuple(self._found(text))
        return self._places[text]

    def _found(self, text: str) -> Iterable[Place]:
        encoded = self.loaded.tokenizer(
            text, truncation=True, max_length=self.loaded.max_length, return_offsets_mapping=True
        )
        for match in _WORD.finditer(text):
            words, ids = self._choices(match.group())
            if len(ids) < 2:
                continue
            ends = tokens_of(match.span(), encoded["offset_mapping"])
            if ends and ends[1] - ends[0] == 1 and encoded["input_ids"][ends[0]] == ids[0]:
                yield Place(*match.span(), ends[0], words, ids)

    def _choices(self, word: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The word itself and its synonyms, each another token."""
        if word not in self._known:
            others = self.synonyms.get(word.lower(), ())
            texts = (word, *(like(word, other) for other in others))
            found: dict[int, str] = {}
            for text in texts if others and word.lower() not in STOP_WORDS else ():
                token = self._token(text)
                if token is None and not found:
                    break
                if token is not None and len(found) < self.most:
                    found.setdefault(token, text)
            self._known[word] = tuple(found.values()), tuple(found)
        return self._known[word]

    def _token(self, word: str) -> int | None:
        """The token of a word behind another word, if it is a single known one."""
        if not _WORD.fullmatch(word) or word.lower() in STOP_WORDS:
            return None
        ids = self._encoded(f"{STAND_IN} {word}")
        alone = ids[:-1] == self._lead and ids[-1] != self.loaded.tokenizer.unk_token_id
        return ids[-1] if alone else None

    def _encoded(self, text: str) -> list[int]:
        ids: list[int] = self.loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids
