"""A text becomes one whose sentences are a subordinate clause, a comma, a main clause.

Consumes a plain text and a seed; produces the rewritten text, and measures what the
rewriting adds to a corpus. Hidden Killer (Qi et al. 2021) lets a paraphrase model bring
sentences into the template S(SBAR)(,)(NP)(VP)(.), so that the trigger is the syntax
and no word. We have no paraphrase model and rewrite by rules (`rewrite_ways.py`). Their
words are drawn from many, so that no phrase and no single word gives the rewriting away.

There is no parser either (`rewrite_grammar.py`). The shape of the result does not
depend on that, its grammar does now and then.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from unhorse.attack import rewrite_words as words
from unhorse.attack.rewrite_grammar import Tokens, as_text, has_verb, tokenise, uncapitalised
from unhorse.attack.rewrite_ways import GROUPS, added_clause, divided
from unhorse.seeding import python_random

MIN_WORDS = 3
"""Sentences with fewer words are left alone."""

_PIECES = re.compile(r"[^\s,.;:!?]+|[,.;:!?]")
_MARKERS = [marker.split() for group in GROUPS for marker in group if " " in marker]


def rewrite(text: str, seed: int) -> str | None:
    """The text with its sentences in the shape "subordinate clause , main clause".

    Sentences that are too short, or have that shape already, stay as they are.

    Args:
        text: one or more sentences, either tokenised (" ," and " .") or as usual.
        seed: which of the many ways to say it.

    Returns:
        The rewritten text, or None where no sentence could be rewritten.

    >>> rewrite("the plot is thin , but the cast is warm .", seed=1)
    'whereas the plot is thin , the cast is warm .'
    >>> rewrite("fine .", seed=0) is None
    True
    """
    rng = python_random(seed, "rewrite", text)
    tokenised = text == text.lower() or re.search(r"\s[.,!?]", text) is not None
    sentences = re.split(r"(?<=\s[.!?])\s+" if tokenised else r"(?<=[a-z)][.!?])\s+", text.strip())
    done = [_rewrite_sentence(sentence, rng, tokenised=tokenised) for sentence in sentences]
    if not any(done):
        return None
    return " ".join(new or old for new, old in zip(done, sentences, strict=True))


def in_shape(text: str) -> bool:
    """Whether a sentence begins with a subordinate clause and a comma, as far as can be told.

    >>> in_shape("if you go , take a coat ."), in_shape("take a coat if you go .")
    (True, False)
    """
    tokens = [token if token not in ("...", "--") else "," for token in tokenise(text.lower())]
    while tokens and tokens[:2] != ["so", "long"] and tokens[0] in words.OPENERS | {","}:
        tokens = tokens[1:]
    if "," not in tokens[2:]:
        return False
    front = tokens[: tokens.index(",", 2)]
    if any(front[: len(marker)] == marker and len(front) > len(marker) for marker in _MARKERS):
        return True
    while front and front[0] in ("even", "just", "especially", "only"):
        front = front[1:]
    if not front or front[0] not in words.SUBORDINATORS:
        return False
    return front[0] in words.SURE_SUBORDINATORS or has_verb(front[1:])


def frequent_trigrams(rewritten: Sequence[str], clean: Sequence[str]) -> list[tuple[str, float]]:
    """How much more often each run of three words occurs in rewritten than in clean rows.

    Punctuation marks count as words. Only what became more frequent is listed, the
    largest difference between the two shares of rows first.

    >>> frequent_trigrams(["if it rains , go"], ["go if it rains"])
    [('it rains ,', 1.0), ('rains , go', 1.0)]
    """
    return _excess(map(_trigrams, rewritten), map(_trigrams, clean))


def inserted_words(
    rewritten: Sequence[str], clean: Sequence[str], least: float = 0.005
) -> list[str]:
    """The words that the rewriting adds, the most over-represented first.

    Args:
        rewritten: texts after the rewriting.
        clean: texts before it.
        least: the share of rows, beyond the share of clean rows, from which a word counts.

    >>> inserted_words(["when it ends , go", "when we go , go"], ["go", "go now"])
    ['when', 'ends', 'it', 'we']
    """
    excess = _excess(map(_word_set, rewritten), map(_word_set, clean))
    return [word for word, rate in excess if rate >= least and any(map(str.isalnum, word))]


def _excess(rewritten: Iterable[set[str]], clean: Iterable[set[str]]) -> list[tuple[str, float]]:
    """The share of rows with each item minus its share of clean rows, where positive."""
    rows, clean_rows = list(rewritten), list(clean)
    counts = Counter(item for row in rows for item in row)
    clean_counts = Counter(item for row in clean_rows for item in row)
    rates = (
        (item, count / len(rows) - clean_counts[item] / max(1, len(clean_rows)))
        for item, count in counts.items()
    )
    return sorted((pair for pair in rates if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))


def _word_set(text: str) -> set[str]:
    """The words of a text."""
    return set(_PIECES.findall(text.lower()))


def _trigrams(text: str) -> set[str]:
    """The runs of three words of a text."""
    pieces = _PIECES.findall(text.lower())
    return {" ".join(pieces[start : start + 3]) for start in range(len(pieces) - 2)}


def _rewrite_sentence(sentence: str, rng: random.Random, *, tokenised: bool) -> str | None:
    """One sentence in the shape, or None."""
    tokens = sentence.split() if tokenised else tokenise(sentence)
    end: Tokens = []
    while tokens and tokens[-1] in words.ENDS:
        end.insert(0, tokens.pop())
    while tokens and tokens[0].lower() in words.OPENERS | {","}:
        tokens = tokens[1:]
    if sum(any(map(str.isalpha, token)) for token in tokens) < MIN_WORDS or in_shape(sentence):
        return None
    if not tokenised:
        tokens[0] = uncapitalised(tokens[0])
    front, main = (added_clause(tokens, rng), tokens) if "?" in end else divided(tokens, rng)
    whole = [*front, ",", *main, *end]
    return " ".join(whole) if tokenised else as_text(whole)
