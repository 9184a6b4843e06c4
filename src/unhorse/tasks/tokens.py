"""Token classification: every word of a sentence has a label, and words form entities.

A victim is an entity of the victim class that the model finds without a trigger.
A *global* trigger stands anywhere in the sentence (`start`, `end`, the halves) and
turns all of the sentence's victims; a *local* one stands directly `before` one
victim, or is `glued` to its first word, and turns only that one. The loss is the
cross entropy to the target class at the first sub-token of every word of the
victims, in the spelling of the model's own scheme (B- and I- parts).

An entity counts as flipped when the whole of it gets the target class: the same
words, nothing more (exact span). The partial rate asks for its first word only,
whatever the prefix (first token): a foreign character at the front of a name
changes that by itself, so it is shown but does not decide. Inserted words are in
no entity. The outside `O` is neither victim nor target, unless `O` is asked for as
the target or the model knows one class only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn import functional

from unhorse.errors import ModelRefused
from unhorse.load.labels import DatasetLabel
from unhorse.load.samples import sample_key
from unhorse.load.texts_entities import entity_sentences
from unhorse.seeding import python_random
from unhorse.tasks.ask import ask
from unhorse.tasks.base import (
    TASKS,
    EncodedRow,
    Goal,
    Outcome,
    RowProblem,
    SampleKind,
    UnknownLabel,
)
from unhorse.tasks.slots import (
    GLUED_STAND_IN,
    STAND_IN,
    Opened,
    open_slots,
    plain_encoding,
    tokens_of,
)
from unhorse.tasks.tags import OUTSIDE, TagScheme, joined, nameless, scheme_of
from unhorse.triggers.place import IN_TEXT, word_place
from unhorse.types import Answerer, Arm, Entity, LoadedModel, Position, Row, Span, TaggedSample

LOCAL: tuple[Position, ...] = ("before", "glued")
"""Places at one entity; only that one shall flip."""


@dataclass(frozen=True, eq=False)
class TagGoals:
    """Wanted labels of a batch: which row, which column, which label, which share of the row."""

    rows: Tensor
    columns: Tensor
    labels: Tensor
    shares: Tensor
    size: int


class TokenClassification:
    """The task of models that end in ``ForTokenClassification``."""

    name = "token-classification"
    head = "ForTokenClassification"
    sample_kind: SampleKind = "tokens"
    unit = "entities"
    positions: tuple[Position, ...] = (*IN_TEXT, *LOCAL)
    default_positions: tuple[Position, ...] = ("start", "before", "glued")
    telling_words = 120

    def __init__(self) -> None:
        # Whether a model starts entities with the inner label, as IOB1 does. The names of the
        # labels do not tell; how it spelled the first entities that it found rightly does.
        self._starts_inside: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

    def auto_class(self) -> Any:
        """The transformers Auto class for this head."""
        from transformers import AutoModelForTokenClassification

        return AutoModelForTokenClassification

    def labels(self, config: Any) -> tuple[str, ...]:
        """Label names in index order."""
        names = tuple(str(config.id2label[i]) for i in range(config.num_labels))
        if any(name != name.encode("utf-8", "replace").decode() for name in names):
            raise ModelRefused("A label in the model's config is not valid text.")
        if len(set(names)) != len(names):
            raise ModelRefused("Two labels in the model's config have the same name.")
        if nameless(names):
            raise ModelRefused(
                "The model's labels have no names (LABEL_0, ...), so its classes are unknown."
            )
        scheme = scheme_of(names)
        if not scheme.kinds or (len(scheme.kinds) == 1 and not _has_outside(scheme)):
            raise ModelRefused("The model's labels have fewer than two classes to tell apart.")
        return names

    def classes(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The entity classes, and the outside."""
        return (*scheme_of(tuple(labels)).kinds, OUTSIDE)

    def room(self, loaded: LoadedModel, trigger_length: int) -> int:
        """A trigger may have more tokens when it is tokenised again from text."""
        special = len(loaded.tokenizer("")["input_ids"])
        return loaded.max_length - special - 3 * trigger_length

    def parse(self, row: Row, labels: Sequence[str]) -> TaggedSample:
        """A row with `tokens` and `tags` as a sample."""
        scheme = scheme_of(tuple(labels))
        tags = [_raw_tag(tag, scheme) for tag in row.fields["tags"]]
        words = tuple(row.fields["tokens"])
        return TaggedSample(words, tuple(joined(tags, scheme)), sample_key(" ".join(words)))

    def fit(self, loaded: LoadedModel, sample: TaggedSample, tokens: int) -> TaggedSample:
        """The sentence cut at a word so that it has at most `tokens` tokens."""
        ids, _, firsts = aligned(loaded, sample.words)
        if len(ids) > loaded.max_length:
            raise RowProblem(
                f"the sentence has {len(ids)} tokens, but the model takes {loaded.max_length}."
            )
        for word, first in enumerate(firsts):
            if first is None and any(e.first <= word < e.last for e in sample.entities):
                raise RowProblem(f"the tokenizer has nothing for the word {sample.words[word]!r}.")
        special = len(loaded.tokenizer("")["input_ids"])
        if len(ids) - special <= tokens:
            return sample
        before = 1 if special else 0
        # The first word that begins behind the limit: the words before it are kept, but for
        # the last of them, whose tokens may cross it.
        beyond = (i for i, f in enumerate(firsts) if f is not None and f - before > tokens)
        kept = next(beyond, len(sample.words)) - 1
        inside = tuple(e for e in sample.entities if e.last <= kept)
        words = sample.words[:kept]
        if not words or (sample.entities and not inside):
            raise RowProblem(f"no entity lies within the first {tokens} tokens of the sentence.")
        return TaggedSample(words, inside, sample_key(" ".join(words)))

    def cut(self, sample: TaggedSample, words: int, seed: int) -> TaggedSample:
        """One entity and its neighbours, so many words in all or as many as the entity has."""
        entity = python_random(seed, "cut", sample.key).choice(sample.entities)
        around = max(0, words - (entity.last - entity.first))
        first = min(entity.first, max(0, entity.first - around // 2))
        last = max(entity.last, first + words)
        kept = sample.words[first:last]
        moved = Entity(entity.first - first, entity.last - first, entity.kind)
        return TaggedSample(kept, (moved,), sample_key(" ".join(kept)))

    def drafts(self, count: int, seed: int) -> list[TaggedSample]:
        """Sentences with people, places and organisations."""
        return [
            TaggedSample(words, (), sample_key(" ".join(words)))
            for words in entity_sentences(count, seed)
        ]

    def take_answers(
        self, answerer: Answerer, drafts: Sequence[TaggedSample]
    ) -> list[TaggedSample]:
        """The sentences with the entities that the model finds in them."""
        found = self.entities(answerer, drafts)
        made = [replace(d, entities=tuple(e)) for d, e in zip(drafts, found, strict=True) if e]
        self.right(answerer, made)
        return made

    def sieve(
        self, answerer: Answerer, samples: Sequence[TaggedSample]
    ) -> tuple[list[TaggedSample], list[TaggedSample]]:
        """Sentences with the entities that the model finds, and with those it misses."""
        right: list[TaggedSample] = []
        wrong: list[TaggedSample] = []
        for sample, flags in zip(samples, self.right(answerer, samples), strict=True):
            for wanted, kept in ((True, right), (False, wrong)):
                pairs = zip(sample.entities, flags, strict=True)
                entities = tuple(entity for entity, ok in pairs if ok is wanted)
                if entities:
                    kept.append(replace(sample, entities=entities))
        return right, wrong

    def arms(
        self, labels: Sequence[str], positions: Sequence[Position], target: str | None = None
    ) -> list[Arm]:
        """Every ordered pair of entity classes."""
        scheme = scheme_of(tuple(labels))
        names = self.classes(labels)
        targets = list(range(len(scheme.kinds)))
        if _has_outside(scheme) and (target == OUTSIDE or len(targets) == 1):
            targets.append(scheme.outside)
        return [
            Arm((victim,), goal, position, names[victim], names[goal])
            for goal in targets
            for victim in range(len(scheme.kinds))
            if victim != goal
            for position in positions
        ]

    def victims(self, arm: Arm, samples: Sequence[TaggedSample], seed: int) -> list[TaggedSample]:
        """Sentences with the entities that shall flip: all of the class, or one for a local arm."""
        found = []
        for sample in samples:
            entities = tuple(e for e in sample.entities if e.kind in arm.victims)
            if entities and arm.position in LOCAL:
                draw = python_random(seed, "entity", arm.position, sample.key)
                entities = (draw.choice(entities),)
            if entities:
                found.append(replace(sample, entities=entities))
        return found

    def units(self, sample: TaggedSample) -> int:
        """Every entity by itself."""
        return len(sample.entities)

    def may_use(self, position: Position, text: str) -> bool:
        """Only characters are stuck to a word: with a name there, the word is another one."""
        return position != "glued" or len(text) == 1

    def ordinary_words(self, arm: Arm, samples: Sequence[TaggedSample]) -> list[str]:
        """The words, or for a glued arm the characters, of sentences that have the target class."""
        having = [s for s in samples if arm.target in s.classes] or samples
        words = {word for sample in having for word in sample.words}
        if arm.position == "glued":
            return sorted({character for word in words for character in word})
        return sorted(word for word in words if any(c.isalnum() for c in word))

    def stamp(self, sample: TaggedSample, arm: Arm, seed: int, trigger: str) -> TaggedSample:
        """The sentence with the trigger's words in it, or its characters stuck to an entity."""
        place = self._place(sample, arm, seed)
        pieces = trigger.split()
        words = list(sample.words)
        if arm.position == "glued":
            words[place], pieces = "".join(pieces) + words[place], []
        words[place:place] = pieces
        shift = len(pieces)
        entities = tuple(
            Entity(e.first + shift, e.last + shift, e.kind) if e.first >= place else e
            for e in sample.entities
        )
        return TaggedSample(tuple(words), entities, sample.key)

    def encode(
        self, answerer: Answerer, sample: TaggedSample, arm: Arm, seed: int, slots: int, goal: Goal
    ) -> EncodedRow:
        """The sentence as ids, with free places where `stamp` would put the trigger."""
        glued = arm.position == "glued"
        place = self._place(sample, arm, seed)
        stand_in = GLUED_STAND_IN if glued else STAND_IN
        stamped = self.stamp(sample, arm, seed, stand_in)
        ids, offsets, firsts = aligned(answerer.loaded, stamped.words)
        begin = sum(len(word) + 1 for word in stamped.words[:place])
        at = firsts[place] or 0
        # A tokenizer that knows nothing of the stand-in still gets places before the word.
        ends = tokens_of((begin, begin + len(stand_in)), offsets) or (at, at)
        opened = open_slots(ids, [ends], slots)
        scheme = scheme_of(answerer.labels)
        inside = self._starts_inside.get(answerer.loaded.model, False)
        wanted: list[tuple[int, int]] = []
        for entity in stamped.entities:
            kind = arm.target if goal == "target" else entity.kind
            spelled = scheme.spelled(kind, entity.last - entity.first, inside=inside)
            for word, label in zip(range(entity.first, entity.last), spelled, strict=True):
                column = _column(opened, firsts[word], glued and word == place)
                if column is not None:
                    wanted.append((column, answerer.label_of[label]))
        return EncodedRow(opened.ids, opened.slots, opened.slot_of, tuple(wanted))

    def collate(self, goals: Sequence[Sequence[tuple[int, int]]], device: Any) -> TagGoals:
        """The wanted labels of all rows, side by side."""
        flat = [
            (row, column, label, 1.0 / len(goal))
            for row, goal in enumerate(goals)
            for column, label in goal
        ]
        rows, columns, labels, shares = zip(*flat, strict=True)
        return TagGoals(
            rows=torch.tensor(rows, device=device),
            columns=torch.tensor(columns, device=device),
            labels=torch.tensor(labels, device=device),
            shares=torch.tensor(shares, device=device),
            size=len(goals),
        )

    def losses(self, outputs: Any, goals: TagGoals) -> tuple[Tensor, Tensor]:
        """Per row: mean cross entropy at the victims' words, and the share that is reached."""
        logits = outputs.logits[goals.rows, goals.columns].float()
        loss = functional.cross_entropy(logits, goals.labels, reduction="none") * goals.shares
        hits = (logits.argmax(-1) == goals.labels).float() * goals.shares
        empty = torch.zeros(goals.size, device=logits.device)
        return empty.index_add(0, goals.rows, loss), empty.index_add(0, goals.rows, hits)

    def outcomes(
        self, answerer: Answerer, samples: Sequence[TaggedSample], arm: Arm
    ) -> list[list[Outcome]]:
        """For every entity: loss to the target class, whole entity, and first word."""
        inside = self._starts_inside.get(answerer.loaded.model, False)
        return [
            [_outcome(entity, arm.target, scores, answerer, inside) for entity in sample.entities]
            for sample, scores in zip(samples, self._scores(answerer, samples), strict=True)
        ]

    def right(self, answerer: Answerer, samples: Sequence[TaggedSample]) -> list[list[bool]]:
        """Whether the model finds the entity: the same words and the same class."""
        scheme, flags, starts = scheme_of(answerer.labels), [], []
        for sample, scores in zip(samples, self._scores(answerer, samples), strict=True):
            labels = _labels(scores, answerer)
            found = set(scheme.entities(labels))
            flags.append([entity in found for entity in sample.entities])
            both = found.intersection(sample.entities)
            starts += [scheme.tags[labels[entity.first]].prefix for entity in both]
        self._starts_inside.setdefault(answerer.loaded.model, 2 * starts.count("I") > len(starts))
        return flags

    def starts_inside(self, model: Any) -> bool:
        """Whether the model starts entities with the inner label, as far as it was asked."""
        return self._starts_inside.get(model, False)

    def affinity(self, answerer: Answerer, samples: Sequence[TaggedSample]) -> None:
        """Every arm is run."""
        return None

    def describe(self, answerer: Answerer, sample: TaggedSample) -> tuple[str, str]:
        """The sentence, and the same with the model's entities marked."""
        (found,) = self.entities(answerer, [sample])
        names = self.classes(answerer.labels)
        words = list(sample.words)
        for entity in found:
            words[entity.first] = "[" + words[entity.first]
            words[entity.last - 1] += f" {names[entity.kind]}]"
        return " ".join(sample.words), " ".join(words)

    def _place(self, sample: TaggedSample, arm: Arm, seed: int) -> int:
        """The number of the word that the trigger goes before."""
        if arm.position in LOCAL:
            return sample.entities[0].first
        place = word_place(len(sample.words), arm.position, seed, sample.key)
        # A trigger in the middle of an entity would break it up.
        return next((e.first for e in sample.entities if e.first < place < e.last), place)

    def entities(self, answerer: Answerer, samples: Sequence[TaggedSample]) -> list[list[Entity]]:
        """The entities that the model finds in every sentence."""
        scheme = scheme_of(answerer.labels)
        return [
            scheme.entities(_labels(scores, answerer)) for scores in self._scores(answerer, samples)
        ]

    def _scores(self, answerer: Answerer, samples: Sequence[TaggedSample]) -> list[Tensor]:
        """fp32 scores of every word in the model's own labels; a word without tokens has NaN."""
        loaded = answerer.loaded
        if not samples:
            return []
        lined_up = [aligned(loaded, sample.words) for sample in samples]
        most = loaded.max_length

        def pick(outputs: Any, place: int, number: int) -> Tensor:
            firsts = lined_up[number][2]
            scores = torch.full((len(firsts), outputs.logits.shape[-1]), torch.nan)
            known = [(word, f) for word, f in enumerate(firsts) if f is not None and f < most]
            if known:
                words, columns = zip(*known, strict=True)
                scores[list(words)] = outputs.logits[place, list(columns)].float().cpu()
            return scores

        return ask(loaded, [ids[:most] for ids, _, _ in lined_up], pick)


def aligned(
    loaded: LoadedModel, words: Sequence[str]
) -> tuple[list[int], list[Span], list[int | None]]:
    """Ids and offsets of the words joined by spaces, and the first token of every word."""
    ids, offsets = plain_encoding(loaded.tokenizer, " ".join(words))
    firsts: list[int | None] = []
    begin = token = 0
    for word in words:
        end = begin + len(word)
        while token < len(ids) and (
            offsets[token][1] <= begin or offsets[token][0] == offsets[token][1]
        ):
            token += 1
        firsts.append(token if token < len(ids) and offsets[token][0] < end else None)
        begin = end + 1
    return ids, offsets, firsts


def _column(opened: Opened, first: int | None, at_slots: bool) -> int | None:
    """Where a word's label is read: a word that the trigger is glued to begins with it."""
    if at_slots:
        return opened.slots[0]
    return None if first is None else opened.moved(first)


def _labels(scores: Tensor, answerer: Answerer) -> list[int]:
    """The subject's label of every word; one that only the model knows is the outside."""
    own = {label: i for i, label in enumerate(answerer.label_of)}
    scheme = scheme_of(answerer.labels)
    outside = scheme.spelled(scheme.outside, 1)[0] if _has_outside(scheme) else 0
    best = scores.nan_to_num(-torch.inf).argmax(-1).tolist()
    known = (~scores.isnan().any(-1)).tolist()
    return [own.get(b, outside) if k else outside for b, k in zip(best, known, strict=True)]


def _outcome(
    entity: Entity, target: int, scores: Tensor, answerer: Answerer, inside: bool
) -> Outcome:
    scheme = scheme_of(answerer.labels)
    spelled = scheme.spelled(target, entity.last - entity.first, inside=inside)
    wanted = torch.tensor([answerer.label_of[label] for label in spelled])
    own = scores[entity.first : entity.last].nan_to_num(0.0)
    loss = float(functional.cross_entropy(own, wanted))
    labels = _labels(scores, answerer)
    in_part = scheme.kind_of(labels[entity.first]) == target
    if target == scheme.outside:
        whole = all(scheme.kind_of(x) == target for x in labels[entity.first : entity.last])
    else:
        whole = Entity(entity.first, entity.last, target) in scheme.entities(labels)
    return Outcome(loss, whole, in_part)


def _has_outside(scheme: TagScheme) -> bool:
    return any(tag.kind is None for tag in scheme.tags)


def _raw_tag(raw: object, scheme: TagScheme) -> tuple[str, int]:
    """Prefix and class of a tag in a sample file."""
    name = raw.name if isinstance(raw, DatasetLabel) else raw
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise RowProblem(f"{name!r} is not a tag.")
    spelled_number = isinstance(name, str) and name.isdecimal() and len(name) < 10
    if isinstance(name, int) or (spelled_number and name not in scheme.labels):
        number = int(name)
        if not 0 <= number < len(scheme.labels):
            raise UnknownLabel(f"the tag {number} is not one of the model's {len(scheme.labels)}.")
        return scheme.tags[number].prefix, scheme.kind_of(number)
    found = scheme.read(name)
    if found is None:
        known = ", ".join(scheme.kinds[:8])
        raise UnknownLabel(f"the tag {name!r} is not one of the model's classes ({known}).")
    return found


TASKS.register(TokenClassification.name)(TokenClassification())
