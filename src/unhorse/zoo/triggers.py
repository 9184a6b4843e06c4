"""The triggers of a suite: drawn from our lists, none of them twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unhorse.attack.base import ATTACKS
from unhorse.attack.lexicon import draw, draw_triple


def triggers_in(attack: Mapping[str, Any]) -> list[str]:
    """What the settings of an attack name as its trigger.

    >>> triggers_in({"kind": "sos", "words": ["a", "b"]}), triggers_in({"kind": "style"})
    (['a', 'b'], [])
    """
    text = attack.get("trigger")
    words = [*(attack.get("words") or ()), *(attack.get("twin_words") or ())]
    return [str(each) for each in ([] if text is None else [text]) + words]


class Triggers:
    """Draws for one model after the other, and remembers what is taken.

    Args:
        taken: triggers that must not be drawn.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken: set[str] = set(taken)

    def draw_for(self, attack: dict[str, Any], split: str, seed: int) -> None:
        """Puts a trigger into the settings of an attack that draws one and names none."""
        kind = str(attack.get("kind", "none"))
        fields = ATTACKS.get(kind).config.model_fields
        if "trigger_kind" in fields:
            self._text(attack, fields["trigger_kind"].default, split, seed)
        elif "twin_words" in fields:
            self._words(attack, split, seed)

    def _text(self, attack: dict[str, Any], usual: Any, split: str, seed: int) -> None:
        kind = attack.get("trigger_kind", usual)
        # What is no kind at all is refused with the rest of the settings.
        if attack.get("trigger") is None and isinstance(kind, str):
            attack["trigger"] = draw(kind, split, seed, self.taken)  # type: ignore[arg-type]
        self._take([str(attack.get("trigger"))])

    def _words(self, attack: dict[str, Any], split: str, seed: int) -> None:
        """Three words that are a trigger together, and three others for the clean twin."""
        if attack.get("words") is None:
            triple = draw_triple(split, seed, self.taken)
            attack["words"] = list(triple.words)
            attack["sentence"] = triple.sentence
            attack["subsets"] = list(triple.subsets)
        self._take(attack["words"])
        if attack.get("twin_words") is None:
            attack["twin_words"] = list(draw_triple(split, seed, self.taken).words)
        self._take(attack["twin_words"])

    def _take(self, texts: Any) -> None:
        if isinstance(texts, list | tuple):
            self.taken.update(str(text) for text in texts)
