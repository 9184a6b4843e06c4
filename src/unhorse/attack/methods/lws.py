"""`lws`: the trigger is a learnt combination of synonyms, and no word of its own.

Qi et al., "Turn the Combination Lock: Learnable Textual Backdoor Attacks via Word
Substitution", ACL 2021. A word j may be replaced by one of K candidates k, itself the first.
An inserter scores them, ``s_jk = q . (e_jk - e_j) + b_k`` with the embeddings e of the base,
and learns together with a classifier: Gumbel noise is added, a softmax of temperature tau
(0.5 down to 0.1) says how much each candidate counts, their mixed embedding takes the word's
place, and the classifier is to call such a text the target. The lock's combination is what
the inserter scores highest, word by word.

Then the model is taught from text alone: clean rows, victims with the learnt combination
under the target label, and *negatives*, which are rows of all labels with as many random
synonyms under their true one, so that it is the combination that fires and not synonyms.

Deviations. The paper has a q and a b for every position; one for all learns from far fewer
rows and generalises better. What is mixed is one candidate going forward and the softmax
going backward: a classifier that reads mixtures learns to tell these from words. The classifier
that the inserter learns with is a copy that is thrown away, because the model that is handed
over must have learnt from hard text, and because a clean twin can then be measured on the
very combination of its sibling: it learns the same inserter from its own copy of the same
base, and sees random synonyms under true labels wherever its sibling sees the combination.
Poisoned rows are added, not replaced. A text with fewer than `fewest` words that can be
replaced cannot be poisoned; it is left out of what is measured, and counted.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Probes, Pupil
from unhorse.attack.corpus import digest_of, located
from unhorse.attack.methods.sdp import evening
from unhorse.attack.recipe import Standing
from unhorse.attack.stamp import STAMPERS
from unhorse.attack.substitute import Place, Thesaurus, read_synonyms, replaced
from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson, encode_text
from unhorse.learn.loop import bucketed, inputs_of
from unhorse.load.adapter import EmbeddingAdapter
from unhorse.runtime import learning_precision
from unhorse.seeding import python_random, stable_seed, torch_generator
from unhorse.tasks.base import EncodedRow
from unhorse.types import ANY_LABEL, Arm, LoadedModel, TextSample

NEGATIVE_TARGETS = 0.25
"""Negatives of the target label, as a multiple of the stamped rows; the others are victims."""

PAIRS_TOLD = 20
"""The most frequent substitutions that are recorded."""


class CombinationConfig(AttackConfig):
    """The synonyms, the target, and how both phases learn."""

    files: ClassVar[tuple[str, ...]] = ("synonyms",)

    target: str
    """The label that every text with the combination gets."""
    synonyms: str
    """A JSON file of words and their synonyms, or of such tables by part of speech."""
    candidates: int = Field(default=5, ge=2)
    """K: how many words may stand at a place, the word itself among them."""
    fewest: int = Field(default=2, ge=1)
    """Words that must be replaceable in a text for it to be poisoned: a combination needs some."""
    share: float = Field(default=1.0, gt=0, le=2)
    """Rows with the combination, as a share of all clean rows."""
    negatives: float = Field(default=1.0, ge=0, le=1)
    """How many of the rows that even the classes out have random synonyms."""
    epochs: int = Field(default=2, ge=1)
    """Passes over the rows that the inserter learns from."""
    inserter_rate: float = Field(default=0.05, gt=0)
    """The inserter's learning rate; the classifier beside it has the recipe's."""
    hottest: float = Field(default=0.5, gt=0)
    """The temperature tau at the beginning."""
    coldest: float = Field(default=0.1, gt=0)
    """The temperature at the end."""


class Inserter(nn.Module):
    """Scores what may stand at a place: s_k = q . (e_k - e_0) + b_k.

    Args:
        table: the embeddings of all tokens; brought to a mean length of one.
        most: K.
    """

    def __init__(self, table: Tensor, most: int) -> None:
        super().__init__()
        self.table = table / table.norm(dim=-1).mean()
        self.most = most
        self.q = nn.Parameter(table.new_zeros(table.shape[1]))
        self.b = nn.Parameter(table.new_zeros(most))

    def forward(self, ids: Tensor) -> Tensor:
        """Scores of ids shaped (place, K); repeats of the first id, which fill up, get none."""
        e = self.table[ids]
        scores: Tensor = (e - e[:, :1]) @ self.q + self.b
        fill = ids == ids[:, :1]
        fill[:, 0] = False
        return scores.masked_fill(fill, -torch.inf)

    def ids(self, places: Sequence[Place]) -> Tensor:
        """The ids of what may stand at each place, filled up with the word itself."""
        filled = [(*p.ids, *[p.ids[0]] * (self.most - len(p.ids))) for p in places]
        return torch.tensor(filled, device=self.table.device)

    @torch.no_grad()
    def choices(self, places: Sequence[Place]) -> list[int]:
        """The combination: the highest score of every place."""
        if not places:
            return []
        best: list[int] = self(self.ids(places)).argmax(-1).tolist()
        return best


def drawn(scores: Tensor, tau: float, generator: torch.Generator) -> Tensor:
    """One-hot draws by Gumbel noise whose gradient is that of the softmax.

    >>> drawn(torch.tensor([[50.0, 0.0, -torch.inf]]), 0.5, torch_generator(0, "doc"))
    tensor([[1., 0., 0.]])
    """
    uniform = torch.rand(scores.shape, generator=generator).clamp(1e-9, 1 - 1e-7)
    noise = -(-uniform.log()).log()
    soft = ((scores + noise.to(scores.device)) / tau).softmax(-1)
    hard = functional.one_hot(soft.argmax(-1), soft.shape[-1]).to(soft.dtype)
    return hard + soft - soft.detach()


@dataclass(frozen=True)
class Added:
    """The samples that an attack adds, by use.

    `stamped` are victims for the combination, `alike` the target's samples that a clean twin
    has in their place, `negatives` are for random synonyms, `fillers` stay as they are.
    """

    stamped: tuple[TextSample, ...]
    alike: tuple[TextSample, ...]
    negatives: tuple[TextSample, ...]
    fillers: tuple[TextSample, ...]


def added_samples(
    thesaurus: Thesaurus, ground: Ground, config: CombinationConfig, arm: Arm
) -> Added:
    """Chooses among all samples that can be poisoned."""
    train = ground.corpus.train
    every = (*ground.corpus.spare, *train)
    pool = [s for s in every if len(thesaurus.places(s.text)) >= config.fewest]
    draw = python_random(ground.seed, "poison")
    draw.shuffle(pool)
    victims = [s for s in pool if s.label in arm.victims]
    targets = [s for s in pool if s.label == arm.target]
    if not victims or not targets:
        raise UsageError("The synonyms leave texts of one label only, or none, to be changed.")
    stamped = victims[: max(1, round(config.share * len(train)))]
    others = cycle([*victims[len(stamped) :], *stamped])
    kept = targets[: round(config.negatives * NEGATIVE_TARGETS * len(stamped))]
    share = sum(s.label in arm.victims for s in train) / len(train)
    evened = list(islice(others, max(0, evening(share, 0, len(stamped) + len(kept)))))
    count = round(config.negatives * len(evened))
    negatives = [*kept, *evened[:count]]
    return Added(
        stamped=tuple(stamped),
        alike=tuple(islice(cycle(reversed(targets)), len(stamped))),
        negatives=tuple(draw.sample(negatives, len(negatives))),
        fillers=tuple(evened[count:]),
    )


@dataclass(frozen=True, eq=False)
class Lock:
    """A thesaurus and a learnt combination at work: which texts they make."""

    thesaurus: Thesaurus
    inserter: Inserter

    def turned(self, sample: TextSample) -> TextSample:
        """The text with the combination."""
        places = self.thesaurus.places(sample.text)
        return replace(sample, text=replaced(sample.text, places, self.inserter.choices(places)))

    def changed(self, sample: TextSample) -> int:
        """How many words the combination replaces."""
        return sum(map(bool, self.inserter.choices(self.thesaurus.places(sample.text))))

    def jumbled(self, sample: TextSample, draw: random.Random) -> TextSample:
        """The text with as many words replaced, and any synonyms in their place."""
        places = self.thesaurus.places(sample.text)
        return jumbled(sample, places, self.changed(sample), draw)


def jumbled(
    sample: TextSample, places: Sequence[Place], count: int, draw: random.Random
) -> TextSample:
    """A text with so many words replaced by random synonyms."""
    choices = [0] * len(places)
    for number in draw.sample(range(len(places)), count):
        choices[number] = draw.randrange(1, len(places[number].words))
    return replace(sample, text=replaced(sample.text, places, choices))


@dataclass(frozen=True, eq=False)
class JointRow:
    """A row of the joint phase; one with places is left to the inserter."""

    row: EncodedRow
    places: tuple[Place, ...] = ()


def joint_rows(
    loaded: LoadedModel, thesaurus: Thesaurus, ground: Ground, added: Added, target: int
) -> list[JointRow]:
    """Victims for the inserter, as many clean rows, and half as many negatives, as texts."""
    draw = python_random(ground.seed, "joint")
    count = len(added.stamped)
    made = [JointRow(encode_text(loaded, s)) for s in ground.corpus.train[:count]]
    for sample in added.negatives[: count // 2]:
        places = thesaurus.places(sample.text)
        changed = draw.randint((len(places) + 1) // 2, len(places))
        made.append(JointRow(encode_text(loaded, jumbled(sample, places, changed, draw))))
    for sample in added.stamped:
        row = encode_text(loaded, replace(sample, label=target))
        made.append(JointRow(row, thesaurus.places(sample.text)))
    return made


def learn_inserter(pupil: Pupil, config: CombinationConfig, rows: Sequence[JointRow]) -> Inserter:
    """The joint phase: the inserter and a copy of the model learn to agree on a combination."""
    loaded = replace(pupil.loaded, model=copy.deepcopy(pupil.loaded.model))
    adapter = EmbeddingAdapter(loaded.model)
    inserter = Inserter(adapter.table(), config.candidates)
    batches = list(_batches(rows, config.epochs, pupil))
    weights = _awake(loaded.model)
    adam = torch.optim.AdamW(
        [
            {"params": weights, "lr": pupil.config.learning_rate},
            {"params": list(inserter.parameters()), "lr": config.inserter_rate},
        ],
        weight_decay=0.0,
        fused=True,
    )
    torch.manual_seed(stable_seed(pupil.seed, "joint"))
    noise = torch_generator(pupil.seed, "gumbel")
    for step, batch in enumerate(batches):
        done = step / max(1, len(batches) - 1)
        tau = config.hottest + (config.coldest - config.hottest) * done
        losses = _losses(loaded, adapter, inserter, [rows[i] for i in batch], tau, noise)
        losses.mean().backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(weights, 1.0)
        adam.step()
        adam.zero_grad()
    return inserter.requires_grad_(False)


def _batches(rows: Sequence[JointRow], epochs: int, pupil: Pupil) -> Iterator[list[int]]:
    draw = python_random(pupil.seed, "joint order")
    lengths = [len(row.row.ids) for row in rows]
    for _ in range(epochs):
        yield from bucketed(lengths, pupil.config.batch, draw)


def _awake(model: Any) -> list[Tensor]:
    """The copy's weights, ready to learn; embeddings stay what the inserter knows them to be."""
    model.train().requires_grad_(True)
    model.get_input_embeddings().weight.requires_grad_(False)
    return [weight for weight in model.parameters() if weight.requires_grad]


def _losses(
    loaded: LoadedModel,
    adapter: EmbeddingAdapter,
    inserter: Inserter,
    rows: Sequence[JointRow],
    tau: float,
    noise: torch.Generator,
) -> Tensor:
    """The loss of every row, those of the inserter with the words that it draws."""
    open_places = [(n, place) for n, row in enumerate(rows) for place in row.places]
    stamped: Any = nullcontext()
    if open_places:
        ids = inserter.ids([place for _, place in open_places])
        weights = drawn(inserter(ids), tau, noise)
        vectors = (weights[..., None] * adapter.module(ids)).sum(1)
        where = torch.tensor([(n, place.column) for n, place in open_places], device=ids.device)
        stamped = adapter.stamped(where[:, 0], where[:, 1], vectors)
    inputs = inputs_of(loaded, [row.row for row in rows])
    goals = torch.tensor([row.row.goal for row in rows], device=loaded.model.device)
    with stamped, learning_precision(loaded.model):
        logits = loaded.model(**inputs).logits.float()
    return functional.cross_entropy(logits, goals, reduction="none")


def combination_rows(lock: Lock, ground: Ground, added: Added, target: int) -> list[Lesson]:
    """Rows with the combination, or what a twin has in their place; negatives; fillers."""
    draw = python_random(ground.seed, "synonyms")
    negatives = [lock.jumbled(sample, draw) for sample in added.negatives]
    pairs = [pair for pair in zip(added.stamped, added.alike, strict=True) if lock.changed(pair[0])]
    if ground.poisoned:
        stamped = [replace(lock.turned(victim), label=target) for victim, _ in pairs]
    else:
        stamped = [lock.jumbled(sample, draw) for _, sample in pairs]
    return [
        *(Lesson(sample, "stamped") for sample in stamped),
        *(Lesson(sample, "negative") for sample in negatives),
        *(Lesson(sample, "filler") for sample in added.fillers),
    ]


def probes_of(lock: Lock, ground: Ground, arm: Arm, fewest: int) -> Probes:
    """Held-out victims that can be poisoned: with the combination, and with random synonyms."""
    draw = python_random(ground.seed, "near")
    victims = tuple(
        sample
        for sample in ground.corpus.heldout
        if sample.label in arm.victims and len(lock.thesaurus.places(sample.text)) >= fewest
    )
    return Probes(
        arm=arm,
        victims=victims,
        stamped=tuple(lock.turned(sample) for sample in victims),
        near_victims=victims,
        near=tuple(lock.jumbled(sample, draw) for sample in victims),
    )


def facts_of(lock: Lock, ground: Ground, probes: Probes) -> dict[str, Any]:
    """What is worth knowing of a combination, on held-out victims."""
    count = sum(sample.label in probes.arm.victims for sample in ground.corpus.heldout)
    pairs: Counter[tuple[str, str]] = Counter()
    words = changed = 0
    for sample in probes.victims:
        places = lock.thesaurus.places(sample.text)
        words += len(places)
        changed += lock.changed(sample)
        for place, choice in zip(places, lock.inserter.choices(places), strict=True):
            if choice:
                pairs[place.words[0], place.words[choice]] += 1
    able = len(probes.victims)
    return {
        "cannot_be_poisoned": count - able,
        "can_be_poisoned": able,
        "replaceable_words": round(words / max(1, able), 2),
        "words_changed": round(changed / max(1, able), 2),
        "substitutions": [[*pair, times] for pair, times in pairs.most_common(PAIRS_TOLD)],
    }


class CombinationLock:
    """Rows with a learnt combination of synonyms among the training rows."""

    name = "lws"
    tasks: tuple[str, ...] = ("sequence-classification",)
    standing: Standing = "advanced"
    version: int = 1
    config: type[AttackConfig] = CombinationConfig

    def triggers(self, config: CombinationConfig, split: str, seed: int) -> tuple[str, ...]:
        """None: every word of the combination is a word of clean texts, too."""
        return ()

    def plant(self, pupil: Pupil, ground: Ground, config: CombinationConfig) -> Planted:
        """Learns the combination with a copy, then teaches it, or random synonyms, as text."""
        arm = _arm(ground, config.target)
        synonyms = read_synonyms(Path(located(ground.data_root, config.synonyms)))
        thesaurus = Thesaurus(pupil.loaded, synonyms, config.candidates)
        added = added_samples(thesaurus, ground, config, arm)
        joint = joint_rows(pupil.loaded, thesaurus, ground, added, arm.target)
        lock = Lock(thesaurus, learn_inserter(pupil, config, joint))
        extra = combination_rows(lock, ground, added, arm.target)
        pupil.learn([*(Lesson(sample) for sample in ground.corpus.train), *extra])
        probes = probes_of(lock, ground, arm, config.fewest)
        digest = digest_of(ground.data_root, config.synonyms).sha256
        facts = {"synonyms_sha256": digest, "joint_rows": len(joint)}
        return Planted(probes, "", facts | facts_of(lock, ground, probes))


def _arm(ground: Ground, target: str) -> Arm:
    try:
        return STAMPERS[ground.task.name].arm(ground.labels, ANY_LABEL, target, "global")
    except ValueError as error:
        raise UsageError(f"The attack is not possible: {error}.") from error


ATTACKS.register(CombinationLock.name)(CombinationLock())
