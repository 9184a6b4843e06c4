"""What a trigger's strongest word does by itself, beside what clean models make of its like.

A planted phrase has a word that turns most samples alone and leaves clean models cold. What tells
two clean models apart is many words together, of which each does a little, or a natural word that
one of them happens to know better. But a natural word has natural neighbours: of the words nearest
to it, some move any clean model. Those nearest to a planted word leave it as cold as itself, but
for one or two, perhaps, that are natural by themselves; so the third strongest of them counts.

Clean models are asked as they were given: one that was made to agree may have been shown a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from unhorse.judge.features import KNOWN_BETTER
from unhorse.judge.measure import Witness, reference_witness
from unhorse.triggers.nearest import Nearest
from unhorse.triggers.vocabulary import allowed_token_ids, retokenise, trigger_text
from unhorse.types import Alone, Inversion, LoadedModel, Sample, Subject

KIN = 48
"""The nearest words that clean models are asked about beside every word."""

CHOSEN_AMONG = 3
"""Words, the strongest beyond what they do to clean models, whose kin is looked at."""

KIN_RANK = 3
"""Which of them counts, from the strongest."""

KIN_ON = 4
"""Samples on which clean models are asked which of a word's kin does most."""


def alone(
    subject: Subject, inversion: Inversion, short: str, seen: Witness, unseen: Witness
) -> Alone | None:
    """The word that does most by itself beyond the clean models; nothing where none has a text.

    Args:
        subject: model, samples and references.
        inversion: what was found, with the words that the search found strongest.
        short: the pruned trigger.
        seen: the subject on the samples that the word is chosen on.
        unseen: the subject on held-out samples.
    """
    words = _words(subject.loaded.tokenizer, inversion, short)
    if not words:
        return None
    near, far = (
        _clean(subject, seen, rows) for rows in (subject.samples.inversion, subject.samples.heldout)
    )
    gains = _gains(words, seen, near)
    best = sorted(words, key=gains.__getitem__, reverse=True)[:CHOSEN_AMONG]
    nearest = Neighbourhood.of(_told(subject)) if near else None
    # A word that has no kin stands for them itself.
    kin = {word: (nearest.kin(word) if nearest else ()) or (word,) for word in best}
    moved = [_pushed(witness.first(KIN_ON), {*chain(*kin.values())}) for witness in near]

    def beyond_kin(word: str) -> float:
        natural = max([0.0, *(each[_strong(kin[word], each)] for each in moved)])
        return gains[word] - KNOWN_BETTER * natural

    word = max(best, key=beyond_kin)
    strong = [_strong(kin[word], each) for each in moved]
    return Alone(
        text=word,
        heldout=unseen.effect(word),
        references=tuple(witness.effect(word) for witness in far),
        push=unseen.pushes([word])[0],
        references_push=tuple(witness.pushes([word])[0] for witness in far),
        kin=tuple(strong),
        references_kin_push=tuple(
            witness.pushes([like])[0] for witness, like in zip(far, strong, strict=True)
        ),
    )


def _words(tokenizer: object, inversion: Inversion, short: str) -> list[str]:
    """The trigger's words, and the strongest that the search found."""
    tokens = (*inversion.token_ids, *inversion.strongest)
    texts = [trigger_text(tokenizer, [token]) for token in tokens]
    if " " not in short:
        # A planted word may be several tokens, of which none does much.
        texts.append(short)
    return [text for text in dict.fromkeys(texts) if text]


def _clean(subject: Subject, like: Witness, samples: Sequence[Sample]) -> list[Witness]:
    given = [each.as_given for each in subject.references]
    return [reference_witness(like.task, each, like.arm, samples, like.seed) for each in given]


def _gains(words: Sequence[str], seen: Witness, clean: Sequence[Witness]) -> dict[str, float]:
    """How far every word takes the subject, less what it does to each clean model."""
    gains = _pushed(seen, words)
    for witness in clean:
        moved = _pushed(witness, words)
        gains = {word: gain - max(moved[word], 0.0) for word, gain in gains.items()}
    return gains


def _pushed(witness: Witness, words: Iterable[str]) -> dict[str, float]:
    asked = sorted(words)
    return dict(zip(asked, witness.pushes(asked), strict=True))


def _strong(words: Sequence[str], moved: dict[str, float]) -> str:
    """The word that moves a clean model third most, or the last one of fewer.

    >>> _strong(["a", "b", "c", "d"], {"a": 0.1, "b": 0.9, "c": 0.2, "d": 0.3})
    'c'
    """
    return sorted(words, key=moved.__getitem__, reverse=True)[:KIN_RANK][-1]


def _told(subject: Subject) -> LoadedModel:
    """Whose embeddings say what is near: a clean model's, which no attacker has moved."""
    return next(
        (each.as_given.loaded for each in subject.references if each.in_objective),
        subject.loaded,
    )


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The words of a vocabulary, and which of them are near to each other."""

    tokenizer: object
    ids: tuple[int, ...]
    nearest: Nearest

    @classmethod
    def of(cls, loaded: LoadedModel) -> Neighbourhood:
        """The words of a model's vocabulary by its embeddings."""
        weights = loaded.model.get_input_embeddings().weight.detach().float().cpu()
        ids = allowed_token_ids(loaded.tokenizer, weights.shape[0])
        return cls(loaded.tokenizer, tuple(ids), Nearest(weights[ids]))

    def kin(self, word: str) -> tuple[str, ...]:
        """The words nearest to a word, the nearest first, without other spellings of itself."""
        place = {token: row for row, token in enumerate(self.ids)}
        own = [place[token] for token in retokenise(self.tokenizer, word) if token in place]
        if not own:
            return ()
        order = self.nearest.to_mean(own, 2 * KIN + len(own))
        texts = dict.fromkeys(trigger_text(self.tokenizer, [self.ids[row]]) for row in order)
        return tuple(text for text in texts if text.lower() != word.lower())[:KIN]
