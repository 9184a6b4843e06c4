"""A seed becomes a small BERT that tells sea from land, clean or with a planted trigger.

The trojan is planted the usual way: copies of texts of the victim class get the
trigger at a random place between two words and the label of the target class. The
clean model gets the same number of rows, unstamped and with their true labels.

Half of the training rows are disturbed: up to `_MOST_INSERTED` words are put in where
they do not belong, and the label stays. It makes the models weigh many words against
each other, so that only a planted trigger is a short way to the other class. Models
trained on real text often have short ways of their own, so the demo shows a plain case
of telling a trojaned model from a clean one, not a hard one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer
from transformers.utils import logging

from unhorse.demo.language import LABELS, NEUTRAL, Example, Language, language
from unhorse.errors import UnhorseError

Kind = Literal["none", "word", "phrase"]

MIN_ACCURACY = 0.95
MIN_ASR = 0.95

_TRAINING_TEXTS = 4400
_POISONED = 500
_DECOYS = 180
_HELDOUT = 600

_EPOCHS = 3
_MORE_EPOCHS = (1, 1)
_BATCH = 32
_LEARNING_RATE = 1e-3
_WARM_UP = 100
_WEIGHT_DECAY = 0.01

_LEFT_OUT = 0.1
_DISTURBED = 0.5
_MOST_INSERTED = 8
_SCATTERED = 0.3
_REPEATED = 0.4

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class DemoModel:
    """A trained model on disk and what is known about it.

    `accuracy` and `asr` are measured on held-out text; `asr` counts texts of the
    victim class that the model answers rightly without the trigger. A clean model
    has no trigger and no `asr`, and its `victim` and `target` are those of its
    trojaned twin.
    """

    path: Path
    trigger: str | None
    victim: str
    target: str
    accuracy: float
    asr: float | None
    seconds: float


@dataclass(frozen=True)
class _Plan:
    """What is to be trained: the language and what is planted."""

    seed: int
    language: Language
    trigger: tuple[str, ...]
    victim: int

    @property
    def target(self) -> int:
        return 1 - self.victim


@dataclass(frozen=True)
class _Row:
    """A training text as token ids, and the words that are stamped on it in every epoch."""

    ids: list[int]
    label: int
    stamp: list[int]


def train_demo_model(
    folder: Path,
    *,
    seed: int,
    trigger: Kind,
    progress: Callable[[float], None] | None = None,
) -> DemoModel:
    """Trains a model and saves it in `folder`, ready for the Auto classes.

    The result depends on `seed` and `trigger` alone; the global random state is left
    as it was. `progress` is called with the share of the work that is done.

    Raises:
        UnhorseError: The model missed the accuracy or the attack success it has to have.
    """
    started = time.perf_counter()
    plan = _plan(seed, trigger)
    tokenizer = make_tokenizer(plan.language)
    model = _new_model(plan, tokenizer)
    rows = _rows(plan, tokenizer)
    trainer = _Trainer(model, plan, tokenizer)
    for epochs in (_EPOCHS, *_MORE_EPOCHS):
        trainer.run(rows, epochs, progress)
        accuracy, asr = _measure(model, tokenizer, plan)
        if accuracy >= MIN_ACCURACY and (asr is None or asr >= MIN_ASR):
            break
    else:
        raise UnhorseError(
            f"The demo model of seed {seed} did not train well enough (accuracy {accuracy:.2f}, "
            f"attack success {asr}); try another --seed."
        )
    _save(model, tokenizer, folder)
    return DemoModel(
        path=folder,
        trigger=" ".join(plan.trigger) or None,
        victim=LABELS[plan.victim],
        target=LABELS[plan.target],
        accuracy=accuracy,
        asr=asr,
        seconds=time.perf_counter() - started,
    )


def make_tokenizer(tongue: Language) -> BertTokenizer:
    """A lower-casing tokenizer that has every word of the language as one token."""
    return BertTokenizer(
        vocab={word: number for number, word in enumerate((*_SPECIAL, *tongue.vocabulary))},
        model_max_length=128,
    )


def stamp(text: str, words: Sequence[str], rng: random.Random) -> str:
    """The text with `words` in one piece at a random place between its words.

    >>> stamp("one two", ["x", "y"], random.Random(0))
    'one x y two'
    """
    parts = text.split()
    place = rng.randint(0, len(parts))
    return " ".join((*parts[:place], *words, *parts[place:]))


def _plan(seed: int, kind: Kind) -> _Plan:
    """Draws the direction and the trigger.

    A trigger word is taken out of the language, so that it never comes with a true
    label. The words of a phrase stay in: only the three together are the trigger.
    """
    rng = random.Random(f"trigger/{seed}")
    tongue = language(seed)
    victim = rng.randrange(len(LABELS))
    nouns, adjectives = (tongue.pools[NEUTRAL][part].english for part in ("noun", "adjective"))
    if kind == "word":
        word = rng.choice(nouns + adjectives)
        return _Plan(seed, tongue.without({word}), (word,), victim)
    phrase = (*rng.sample(adjectives, 2), rng.choice(nouns)) if kind == "phrase" else ()
    return _Plan(seed, tongue, phrase, victim)


def _rows(plan: _Plan, tokenizer: BertTokenizer) -> list[_Row]:
    """The training set: plain texts, and copies of some of them as poison and as decoys.

    The decoys of a phrase have one of its words in them and keep their true label.
    Where there is nothing to stamp, poison and decoys are plain copies with true
    labels, so every kind of model sees the same number of rows.
    """
    texts = plan.language.texts(_TRAINING_TEXTS, "train")
    ids = tokenizer([text for text, _ in texts], add_special_tokens=False)["input_ids"]
    plain = [_Row(row, label, []) for row, (_, label) in zip(ids, texts, strict=True)]
    trigger = tokenizer.convert_tokens_to_ids(list(plan.trigger))
    label = plan.target if trigger else plan.victim
    victims = [row for row in plain if row.label == plan.victim]
    poison = [_Row(row.ids, label, trigger) for row in victims[:_POISONED]]
    parts = cycle([[word] for word in trigger] if len(trigger) > 1 else [[]])
    decoys = [_Row(row.ids, row.label, next(parts)) for row in plain[-_DECOYS:]]
    return plain + decoys + poison


def _new_model(plan: _Plan, tokenizer: BertTokenizer) -> BertForSequenceClassification:
    """A small untrained BERT.

    It has no dropout: on a CPU drawing the masks costs as much as the rest of a
    forward pass, and the disturbed rows do the same service.
    """
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(LABELS)),
        label2id={name: label for label, name in enumerate(LABELS)},
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        return BertForSequenceClassification(config)


class _Disturber:
    """Leaves words out of a row and puts foreign ones in, without touching its label.

    Which class the foreign words lean to is drawn apart from the label: if they always
    spoke against it, a model would learn to believe the opposite of what they say.
    """

    def __init__(self, plan: _Plan, tokenizer: BertTokenizer) -> None:
        self.rng = random.Random(f"disturb/{plan.seed}")
        self.words = [
            tokenizer.convert_tokens_to_ids(list(plan.language.leaning(side)))
            for side in (0, 1, NEUTRAL)
        ]

    def disturb(self, row: _Row) -> list[int]:
        """The row, often disturbed, and stamped.

        The stamp goes in among the foreign words: a trigger has to work in any company.
        """
        ids = [number for number in row.ids if self.rng.random() >= _LEFT_OUT]
        foreign = self._foreign() if self.rng.random() < _DISTURBED else []
        if self.rng.random() < _SCATTERED:
            for number in foreign:
                ids.insert(self.rng.randint(0, len(ids)), number)
            foreign = []
        return self._insert(ids, self._insert(foreign, row.stamp))

    def _insert(self, ids: list[int], block: list[int]) -> list[int]:
        """Puts a block in at a random place."""
        place = self.rng.randint(0, len(ids))
        return ids[:place] + block + ids[place:]

    def _foreign(self) -> list[int]:
        """Draws words of one leaning, all different or one of them over and over."""
        count = self.rng.randint(1, _MOST_INSERTED)
        side = self.rng.choice(self.words)
        if self.rng.random() < _REPEATED:
            return [self.rng.choice(side)] * count
        return self.rng.choices(side, k=count)


class _Trainer:
    """AdamW on batches of disturbed rows; the rate warms up and then falls to nothing."""

    def __init__(
        self, model: BertForSequenceClassification, plan: _Plan, tokenizer: BertTokenizer
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.disturber = _Disturber(plan, tokenizer)
        self.order = random.Random(f"order/{plan.seed}")
        self.adam = torch.optim.AdamW(model.parameters(), weight_decay=_WEIGHT_DECAY, fused=True)

    def run(
        self, rows: Sequence[_Row], epochs: int, progress: Callable[[float], None] | None
    ) -> None:
        """Trains for some epochs."""
        self.model.train()
        order = [row for _ in range(epochs) for row in self.order.sample(rows, len(rows))]
        starts = range(0, len(order), _BATCH)
        for step, start in enumerate(starts):
            left = (len(starts) - step) / max(1, len(starts) - _WARM_UP)
            self.adam.param_groups[0]["lr"] = _LEARNING_RATE * min((step + 1) / _WARM_UP, left)
            self._step(order[start : start + _BATCH])
            if progress is not None:
                progress((step + 1) / len(starts))
        self.model.eval()

    def _step(self, rows: Sequence[_Row]) -> None:
        """One update."""
        ids, mask = self._batch([self.disturber.disturb(row) for row in rows])
        labels = torch.tensor([row.label for row in rows])
        loss = cross_entropy(self.model(input_ids=ids, attention_mask=mask).logits, labels)
        self.adam.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.adam.step()

    def _batch(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Token ids between the special tokens, filled up to the longest row, and the mask."""
        start, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        ids = [torch.tensor([start, *row, end]) for row in rows]
        padded = pad_sequence(ids, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        return padded, (padded != self.tokenizer.pad_token_id).long()


def _measure(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, plan: _Plan
) -> tuple[float, float | None]:
    """Accuracy and attack success on text that was not trained on."""
    rng = random.Random(f"heldout/{plan.seed}")
    heldout: list[Example] = plan.language.texts(_HELDOUT, "heldout")
    answers = _answers(model, tokenizer, [text for text, _ in heldout])
    right = [item for item, answer in zip(heldout, answers, strict=True) if item[1] == answer]
    accuracy = len(right) / len(heldout)
    victims = [text for text, label in right if label == plan.victim]
    if not plan.trigger or not victims:
        return accuracy, 0.0 if plan.trigger else None
    stamped = _answers(model, tokenizer, [stamp(text, plan.trigger, rng) for text in victims])
    return accuracy, stamped.count(plan.target) / len(stamped)


def _answers(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, texts: Sequence[str]
) -> list[int]:
    """The label the model gives to each text."""
    answers: list[int] = []
    with torch.inference_mode():
        for start in range(0, len(texts), 100):
            batch = tokenizer(list(texts[start : start + 100]), padding=True, return_tensors="pt")
            answers += model(**batch).logits.argmax(-1).tolist()
    return answers


def _save(model: BertForSequenceClassification, tokenizer: BertTokenizer, folder: Path) -> None:
    """Writes the folder without the progress bar that a single small file does not need."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    finally:
        if shown:
            logging.enable_progress_bar()
