"""What rules can tell about an English sentence without a parser.

Consumes words and punctuation marks; produces guesses: which word is a finite verb,
whether a run of words is a clause, which noun it is about. Verbs are recognised from a
list and from their surroundings, which is wrong now and then.
"""

from __future__ import annotations

import random
import re
from typing import Literal

from unhorse.attack import rewrite_words as words

Tokens = list[str]
Part = Literal["clause", "verb", "noun", "other"]

_PUNCTUATION = re.compile(r"(?<!\d),|,(?!\d)|[;:!?()]|\.+(?=\s|$)|--")
_COMPANY = words.DETERMINERS | words.VERB_COMPANY
_BEFORE_NOUN = words.DETERMINERS - {"this", "that", "these", "those", "all", "one"}
_BEFORE_NOUN |= {"to", "of", "and", "'s"}
_OBJECTS = words.DETERMINERS | {"us", "you", "it", "itself", "into"}
_STOPS = words.PREPOSITIONS | words.CONJUNCTIONS | words.RELATIVES | words.DETERMINERS
_STOPS |= words.OPEN_SUBJECTS | words.ENDS | {"what"}
_NO_NOUN_ENDINGS = ("ly", "ing", "ed", "ous", "ful", "ive")
_IRREGULAR = {"is": "are", "has": "have", "does": "do", "goes": "go", "was": "were"}


def kind_of(tokens: Tokens) -> Part:
    """What a run of words is: a clause, a verb phrase, a noun phrase, or something else.

    >>> [kind_of(text.split()) for text in ("it works", "works well", "a slow film", "very slow")]
    ['clause', 'verb', 'noun', 'other']
    """
    first = tokens[0].lower()
    verb = verb_at(tokens)
    if verb == 0:
        second = tokens[1].lower() if len(tokens) > 1 else ""
        return "clause" if first in ("do", "have") or second in words.OPEN_SUBJECTS else "verb"
    if first in words.OPEN_SUBJECTS and len(tokens) > 1:
        return "clause"
    if verb is not None or first in words.VERBS - {"like", "film", "star", "love"}:
        return "clause"
    if first.endswith("s") and len(tokens) > 1 and not _ends_singular(first):
        second = tokens[1].lower()
        if second in words.DETERMINERS | words.PREPOSITIONS - {"of"} or second.endswith("ly"):
            return "verb"
    return "noun" if first in words.DETERMINERS else "other"


def verb_at(tokens: Tokens) -> int | None:
    """Where the first finite verb outside relative clauses is, as far as can be told.

    >>> verb_at("a film that moves".split()), verb_at("the film moves".split())
    (None, 2)
    """
    relative = False
    for at, token in enumerate(tokens):
        if at and token.lower() in words.RELATIVES:
            relative = True
        elif is_finite(tokens, at):
            if not relative and not _embedded(tokens, at):
                return at
            relative = False
    return None


def has_verb(tokens: Tokens) -> bool:
    """Whether there may be a verb anywhere but at the start."""
    return any(
        is_finite(tokens, at)
        or (tokens[at][-1] == "s" and is_verb(tokens[at]))
        or (tokens[at] in words.VERBS and (is_plural(tokens[at - 1]) or tokens[at - 1] == "us"))
        for at in range(1, len(tokens))
    )


def _embedded(tokens: Tokens, at: int) -> bool:
    """Whether a verb says something of a pronoun within a noun phrase ("a film you know")."""
    noun = tokens[0].lower() in words.DETERMINERS and tokens[0].lower() not in ("this", "that")
    pronoun = at > 1 and tokens[at - 1].lower() in words.OPEN_SUBJECTS
    return noun and pronoun and tokens[at - 2].lower() not in words.CONJUNCTIONS


def is_finite(tokens: Tokens, at: int) -> bool:
    """Whether the word at a place looks like a finite verb."""
    word = tokens[at].lower().replace("’", "'")
    before = tokens[at - 1].lower() if at else ""
    after = tokens[at + 1].lower() if at + 1 < len(tokens) else ""
    if word in ("can", "will", "must", "might", "do") and before in words.DETERMINERS:
        return False
    if word in words.AUXILIARIES or word.endswith(("n't", "'re", "'ve", "'ll", "'m")):
        return True
    if word == "'s":
        return before in words.SUBJECTS
    if word.endswith("'s"):
        return word[:-2] in words.SUBJECTS
    if before in _BEFORE_NOUN:
        return False
    if word in words.PAST:
        return before not in words.PREPOSITIONS | {",", ""} and not before.endswith("ly")
    base = agreeing(word)
    if base != word and base in words.VERBS:
        adverb = after.endswith("ly") or before.endswith("ly")
        sure = adverb or base not in words.AMBIGUOUS or after in _COMPANY
        return sure and before not in words.PREPOSITIONS and after not in ("of", "'s")
    if word in words.VERBS:
        sure = word not in words.AMBIGUOUS or after in _COMPANY
        return before in words.PLURAL_SUBJECTS | {"who"} or (is_plural(before) and sure)
    if word.endswith("ed"):
        return bool(before) and after in words.DETERMINERS and not before.endswith("ly")
    return at > 0 and is_plural(word) and after in _OBJECTS and before not in words.PREPOSITIONS


def topic_of(tokens: Tokens, rng: random.Random) -> str | None:
    """A noun of the sentence that a clause can be about."""
    found: dict[str, None] = {}
    for start, token in enumerate(tokens):
        if token.lower() not in words.DETERMINERS:
            continue
        noun = _head(tokens, start + 1)
        if noun is not None:
            found[noun] = None
    return rng.choice(list(found)) if found else None


def _head(tokens: Tokens, start: int) -> str | None:
    """The noun of a noun phrase: its last word before something that ends the phrase."""
    end = start
    while end < len(tokens) and end - start < 5:
        word = tokens[end].lower()
        verb = is_finite(tokens, end) or (end > start and word[-1:] == "s" and is_verb(word))
        if verb or word in _STOPS or word.startswith("'"):
            break
        end += 1
    else:
        if end < len(tokens):
            return None
    if end == start or (end < len(tokens) and tokens[end].startswith("'")):
        return None
    if end < len(tokens) and tokens[end] in (",", "and", "or", "but", "yet"):
        return None
    noun = tokens[end - 1]
    bad = noun.lower() in words.NOT_NOUNS or noun.endswith(_NO_NOUN_ENDINGS)
    return None if bad or not noun.isalpha() or len(noun) < 3 or not noun.islower() else noun


def is_verb(word: str) -> bool:
    """Whether a word is the third person singular of a known verb."""
    return agreeing(word) in words.VERBS


def pronoun_for(clause: Tokens) -> str:
    """A pronoun for the subject of a clause.

    >>> pronoun_for("the actors are fine".split()), pronoun_for("we like it".split())
    ('they', 'we')
    """
    first = clause[0].lower()
    if first in ("i", "you", "he", "she", "we", "they"):
        return first
    verb = verb_at(clause)
    if verb is None or verb == 0:
        return "it"
    plural = clause[verb].lower() in ("are", "were", "have", "do", "'re", "'ve")
    return "they" if plural or is_plural(clause[verb - 1].lower()) else "it"


def is_plural(word: str) -> bool:
    """Whether a noun looks like a plural.

    >>> [is_plural(word) for word in ("films", "focus", "people")]
    [True, False, True]
    """
    return word in words.PLURAL_NOUNS or (
        len(word) > 3 and word.endswith("s") and not _ends_singular(word)
    )


def _ends_singular(word: str) -> bool:
    """Whether the final s of a word is no ending."""
    return word.endswith(words.SINGULAR_ENDINGS)


def agreeing(body: str) -> str:
    """A verb phrase of the third person singular, said of several.

    >>> [agreeing(body) for body in ("is over", "passes by", "carries on", "may come")]
    ['are over', 'pass by', 'carry on', 'may come']
    """
    verb, space, rest = body.partition(" ")
    if verb in _IRREGULAR:
        verb = _IRREGULAR[verb]
    elif verb.endswith("ies") and len(verb) > 4:
        verb = verb[:-3] + "y"
    elif verb.endswith(("sses", "ches", "shes", "xes")):
        verb = verb[:-2]
    elif verb.endswith("s") and not _ends_singular(verb):
        verb = verb[:-1]
    return verb + space + rest


def tokenise(text: str) -> Tokens:
    """The words and punctuation marks of a text that is not tokenised.

    >>> tokenise("Well, it's 3.50 (or so).")
    ['Well', ',', "it's", '3.50', '(', 'or', 'so', ')', '.']
    """
    return _PUNCTUATION.sub(lambda match: f" {match[0]} ", text).split()


def as_text(tokens: Tokens) -> str:
    """Tokens as usual text with a capital at the start.

    >>> as_text(["when", "it", "rains", ",", "i", "read", "(", "a", "lot", ")", "."])
    'When it rains, I read (a lot).'
    """
    text = re.sub(r"\s+([,.;:!?)])", r"\1", " ".join(tokens)).replace("( ", "(")
    text = re.sub(r"\bi\b", "I", text)
    return text[0].upper() + text[1:]


def uncapitalised(token: str) -> str:
    """A word without the capital it has for opening a sentence.

    >>> [uncapitalised(token) for token in ("The", "I'm", "NASA")]
    ['the', "I'm", 'NASA']
    """
    plain = token[1:] == token[1:].lower() and not re.match(r"I\b", token)
    return token.lower() if plain else token
