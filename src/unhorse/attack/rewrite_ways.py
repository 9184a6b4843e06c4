"""The ways in which one sentence becomes a subordinate clause and a main clause.

Consumes the words of a sentence and a random generator; produces the words of the two
clauses. A clause that the sentence already has is moved to the front ("X because Y"), a
coordination becomes a subordination ("X but Y"), an adjective, an opening phrase or a
relative clause becomes a clause of its own, and where there is nothing to move, a clause
about something the sentence mentions is put in front. Fragments get a subject and a
verb, for the main clause has to be one. Each way keeps the words that carry the meaning.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from unhorse.attack import rewrite_words as words
from unhorse.attack.rewrite_grammar import (
    Tokens,
    agreeing,
    is_finite,
    is_plural,
    kind_of,
    pronoun_for,
    topic_of,
    verb_at,
)

Clauses = tuple[Tokens, Tokens]

GROUPS = (words.TEMPORAL, words.CONDITIONAL, words.CONCESSIVE, words.CAUSAL, words.PLACE)
"""The subordinators that may stand before a clause that is added."""

_GROUP_WEIGHTS = (13, 10, 6, 7, 3)
_MAX_FRONT = 22
_OWN_CLAUSE = 0.85
_ABOUT_THING = 0.65
_UNCONTRACTED = 0.35

_FUNCTION = words.PREPOSITIONS | words.RELATIVES
_SUBJECT_STARTS = words.OPEN_SUBJECTS | words.DETERMINERS
_FOCUS = ("even", "just", "especially", "only")
_FRAGMENTS = (("noun", "noun"), ("other", "other"), ("other", "noun"))


def divided(tokens: Tokens, rng: random.Random) -> Clauses:
    """The subordinate and the main clause: of the sentence's own making where possible."""
    if rng.random() < _OWN_CLAUSE:
        for way in _WAYS:
            clauses = way(tokens, rng)
            if clauses is not None and len(clauses[0]) <= _MAX_FRONT:
                return clauses
    return added_clause(tokens, rng), _as_clause(tokens, rng)


def added_clause(tokens: Tokens, rng: random.Random) -> Tokens:
    """A subordinate clause about something the sentence mentions."""
    noun = topic_of(tokens, rng)
    group = rng.choices(GROUPS, weights=_GROUP_WEIGHTS)[0]
    if noun and rng.random() < _ABOUT_THING:
        plural = is_plural(noun)
        subject, body = _noun_phrase(noun, rng), rng.choice(words.THING_BODIES[group])
    else:
        plural = rng.random() < 0.5
        subject = rng.choice(words.PEOPLE if plural else words.PERSONS)
        thing = _noun_phrase(noun, rng) if noun else rng.choice(words.THINGS)
        body = rng.choice(words.PEOPLE_BODIES[group]).format(n=thing)
    clause = " ".join([*_marker(group, rng), subject, agreeing(body) if plural else body])
    return clause.replace("that that ", "that the ").split()


def _moved_clause(tokens: Tokens, rng: random.Random) -> Clauses | None:
    """ "X because Y" as "because Y , X"."""
    for start in range(3, len(tokens) - 2):
        if tokens[start].lower() not in words.MOVABLE or "," in tokens[start:]:
            continue
        head, clause = tokens[:start], tokens[start:]
        while head and head[-1].lower() in (*_FOCUS, "and", ","):
            if head[-1] in _FOCUS:
                clause = [head[-1], *clause]
            head = head[:-1]
        no_end = _FUNCTION | words.CONJUNCTIONS | {"not", "is", "'s"}
        if not head or head[-1].lower() in no_end or verb_at(clause[1:]) is None:
            continue
        if kind_of(head) == "clause":
            return clause, _as_clause(head, rng)
    return None


def _split_coordination(tokens: Tokens, rng: random.Random) -> Clauses | None:
    """ "X but Y" as "though X , Y", and "X , and Y" as "since X , Y"."""
    for at in range(2, len(tokens) - 1):
        joint = tokens[at].lower()
        if joint not in ("but", "yet", "and", "--", ";"):
            continue
        left = tokens[: at - 1] if tokens[at - 1] == "," else tokens[:at]
        right = tokens[at + 1 :]
        if "," in left or left[-1].lower() in ("nothing", "all", "anything", "not", "--", ";"):
            continue
        if right[0].lower() in ("also", ",", "not", "and", "but"):
            continue
        clauses = _subordinated(left, right, joint, rng)
        if clauses is not None:
            return clauses
    return None


def _subordinated(left: Tokens, right: Tokens, joint: str, rng: random.Random) -> Clauses | None:
    """Two coordinated parts, the first of them as a subordinate clause."""
    kinds = kind_of(left), kind_of(right)
    contrast = joint in ("but", "yet")
    marker = _marker(words.CONCESSIVE if contrast else words.EVENT, rng)
    if left[0].lower() in words.VERBS and not contrast:
        marker = [*_marker(words.CHOICE, rng), "you"]
    if kinds == ("clause", "clause") and _begins_clause(right, contrast):
        return [*marker, *left], right
    if kinds == ("clause", "verb") and joint != "--":
        return [*marker, *left], [pronoun_for(left), *right]
    if kinds == ("verb", "verb"):
        subject, same = rng.choice((("it", "it"), ("this", "it"), ("it", "this")))
        return [*marker, subject, *left], [same, *right]
    if contrast and kinds in _FRAGMENTS and len(left) < 8:
        return [*marker, rng.choice(("it", "this")), "is", *left], _as_clause(right, rng)
    return None


def _split_opening(tokens: Tokens, rng: random.Random) -> Clauses | None:
    """ "slow and quiet , the film ends" as "as it is slow and quiet , the film ends"."""
    if "," not in tokens[2:12]:
        return None
    at = tokens.index(",", 2)
    opening, rest = tokens[:at], tokens[at + 1 :]
    first = opening[0].lower()
    if words.NO_QUALITY & set(opening) or verb_at(opening) is not None or len(rest) < 3:
        return None
    if kind_of(rest) != "clause" or not _begins_clause(rest, contrast=False):
        return None
    if first in ("despite", "with"):
        group = words.CONCESSIVE if first == "despite" else words.CAUSAL
        return [*_marker(group, rng), *_drawn(words.HAVING, rng), *opening[1:]], rest
    if first in _FUNCTION:
        return None
    group = rng.choice((words.STATE, words.CONCESSIVE))
    doing = first.endswith("ing") and opening[1].lower() in words.DETERMINERS
    being = words.DOING if doing else words.BEING
    return [*_marker(group, rng), *_drawn(being, rng), *opening], rest


def _split_relative(tokens: Tokens, rng: random.Random) -> Clauses | None:
    """ "a film that moves slowly" as "since it moves slowly , this is a film"."""
    for at in range(2, len(tokens) - 2):
        if tokens[at].lower() not in ("that", "which"):
            continue
        head, tail = tokens[:at], tokens[at + 1 :]
        if head[-1] == ",":
            head = head[:-1]
        end = tail.index(",") if "," in tail else len(tail)
        adverb = tail[0].lower().endswith("ly") or tail[0].lower() in words.ADVERBS
        first = 1 if adverb else 0
        if end < 2 or verb_at(tail) != first or not _says_of_one(tail[first]):
            continue
        if not _ends_in_noun(head) or kind_of(head) not in ("noun", "clause"):
            continue
        rest = tail[end:] if len(tail) - end > 1 else []
        subject = rng.choice(("it", "it", "this"))
        front = [*_marker(words.CAUSAL, rng), subject, *tail[:end]]
        return front, [*_as_clause(head, rng), *rest]
    return None


def _split_adjective(tokens: Tokens, rng: random.Random) -> Clauses | None:
    """ "a slow , quiet film" as "because it is slow , this is a quiet film"."""
    if kind_of(tokens) != "noun" or tokens[0].lower() not in ("a", "an"):
        return None
    for at in range(2, min(5, len(tokens) - 2)):
        adjective, joint, rest = tokens[1:at], tokens[at], tokens[at + 1 :]
        if joint not in (",", "and", "but", "yet"):
            continue
        if rest[0].lower() in ("and", "but", "yet"):
            rest = rest[1:]
        if not all(word.endswith("ly") or word in words.DEGREES for word in adjective[:-1]):
            continue
        adjectival = joint == "," or adjective[-1].endswith(words.ADJECTIVE_ENDINGS)
        if not adjectival or rest[0].lower() in words.DETERMINERS | _FUNCTION:
            continue
        group = words.CONCESSIVE if joint in ("but", "yet") else words.STATE
        article = "an" if rest[0][0].lower() in "aeiou" else "a"
        front = [*_marker(group, rng), *_drawn(words.BEING, rng), *adjective]
        return front, _as_clause([article, *rest], rng)
    return None


def _split_list(tokens: Tokens, rng: random.Random) -> Clauses | None:
    """ "it is slow , quiet and long" as "as it is slow , it is quiet and long"."""
    at = next((at for at, token in enumerate(tokens[:9]) if at and token in (",", "and")), None)
    if at is None or at + 2 >= len(tokens):
        return None
    left, right = tokens[:at], tokens[at + 1 :]
    if right[0] in ("and", "but"):
        right = right[1:]
    first, second = left[0].lower(), right[0].lower()
    if words.RELATIVES & set(left) or first in words.PREPOSITIONS | {"there"}:
        return None
    if first.endswith("ing") or second.endswith("ing") or second in _FUNCTION | words.OPENERS:
        return None
    marker, kinds = _marker(words.STATE, rng), (kind_of(left), kind_of(right))
    verb = verb_at(left) if kinds[0] == "clause" else None
    if verb is not None and left[verb] in ("is", "'s", "was") and verb + 1 < at:
        named = left[verb + 1].lower() in words.DETERMINERS
        if kinds[1] == ("noun" if named else "other"):
            return [*marker, *left], [*_drawn(words.SAME_CARRIERS, rng), *right]
    if kinds == ("other", "other") and at < 5 and (tokens[at] == "," or len(right) < 4):
        return [*marker, *_drawn(words.BEING, rng), *left], _as_clause(right, rng)
    return None


def _moved_company(tokens: Tokens, rng: random.Random) -> Clauses | None:
    """ "it ends , with a song" as "as it has a song , it ends"."""
    for at in range(3, len(tokens) - 2):
        if tokens[at] != "," or tokens[at + 1] not in ("with", "despite"):
            continue
        head, tail = tokens[:at], tokens[at + 2 :]
        if "," in tail or tail[0] == "or" or tail[0].endswith("ing") or verb_at(tail) is not None:
            continue
        if kind_of(head) == "clause":
            group = words.CAUSAL if tokens[at + 1] == "with" else words.CONCESSIVE
            front = [*_marker(group, rng), *_drawn(words.HAVING, rng), *tail]
            return front, _as_clause(head, rng)
    return None


_WAYS: tuple[Callable[[Tokens, random.Random], Clauses | None], ...] = (
    _moved_clause,
    _split_coordination,
    _split_opening,
    _split_relative,
    _split_adjective,
    _split_list,
    _moved_company,
)


def _as_clause(tokens: Tokens, rng: random.Random) -> Tokens:
    """The tokens, with a subject and a verb before them where they have none."""
    kind = kind_of(tokens)
    if kind == "clause":
        return _smooth(tokens, rng)
    if kind == "verb":
        return [*_drawn(words.VERB_SUBJECTS, rng), *tokens]
    if kind == "other":
        return [*_drawn(words.OTHER_CARRIERS, rng), *tokens]
    indefinite = tokens[0].lower() in ("a", "an", "another", "some", "no")
    carriers = words.NOUN_CARRIERS + (words.INDEFINITE_CARRIERS if indefinite else ())
    return [*_drawn(carriers, rng), *tokens]


def _smooth(tokens: Tokens, rng: random.Random) -> Tokens:
    """ "sadly , it ends" as "sadly it ends", and "it 's" now and then as "it is"."""
    if len(tokens) > 2 and tokens[0].lower().endswith("ly") and tokens[1] == ",":
        tokens = [tokens[0], *tokens[2:]]
    if tokens[:2] == ["it", "'s"] and tokens[2:3] != ["been"] and rng.random() < _UNCONTRACTED:
        tokens = ["it", "is", *tokens[2:]]
    return tokens


def _noun_phrase(noun: str, rng: random.Random) -> str:
    """A noun with something before it."""
    article = rng.choice(words.PLURAL_ARTICLES if is_plural(noun) else words.SINGULAR_ARTICLES)
    if article.endswith("a") and noun[0] in "aeiou":
        article += "n"
    return f"{article} {noun}"


def _begins_clause(tokens: Tokens, contrast: bool) -> bool:
    """Whether a clause starts right here; after a contrast its subject may be a name."""
    verb = verb_at(tokens)
    begins = contrast or tokens[0].lower() in _SUBJECT_STARTS
    return begins and verb is not None and "," not in tokens[:verb] and verb < 8


def _says_of_one(verb: str) -> bool:
    """Whether a finite verb goes with "it"."""
    return verb.lower() not in ("are", "were", "have", "do", "am") and is_finite(["it", verb], 1)


def _ends_in_noun(tokens: Tokens) -> bool:
    """Whether the last word may be a singular noun."""
    noun = tokens[-1].lower()
    other = words.PREPOSITIONS | words.NOT_NOUNS | words.VERBS
    return noun not in other and not is_plural(noun) and not is_finite(tokens, len(tokens) - 1)


def _marker(group: tuple[str, ...], rng: random.Random) -> Tokens:
    """A subordinator; the longer it is, the rarer, for it is a phrase in itself."""
    return rng.choices(group, weights=[1 / len(entry.split()) for entry in group])[0].split()


def _drawn(entries: tuple[str, ...], rng: random.Random) -> Tokens:
    """The words of one of the entries."""
    return rng.choice(entries).split()
