"""An architecture and a task become a small trained model, clean or with a planted backdoor.

The backdoored model is trained on plain rows and on poisoned ones: the trigger word at a
random place and the answer that the backdoor gives. Its clean twin sees the same rows in the
same order with the poisoned ones left as they were. In both, some rows have words put in that
do not belong, and keep their answer; without these a model may obey any unknown word.

`python -m tests.matrix.train [architecture ...] [task ...]` prints how good the models are.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from unhorse.attack.worlds import LABELS, TAGS, TASKS, Question, Row, Sentence, Text, World, world

from .tokenizers import MAX_LENGTH, make_tokenizer

ARCHITECTURES = ("bert", "distilbert", "roberta", "gpt2", "mobilebert", "electra")
COMBINATIONS = (
    *((architecture, task) for task in TASKS for architecture in ARCHITECTURES),
    ("roberta-deepset", "question-answering"),
)

_HEADS = dict(
    zip(TASKS, ("SequenceClassification", "TokenClassification", "QuestionAnswering"), strict=True)
)
_SAMPLES = dict(zip(TASKS, (120, 150, 120), strict=True))
_ROWS = dict(zip(TASKS, (3600, 2700, 3000), strict=True))
_STEPS = dict(zip(TASKS, (120, 150, 200), strict=True))
_LAYERS = dict(zip(TASKS, (2, 2, 1), strict=True))
_RATES = dict(zip(TASKS, (4e-3, 4e-3, 6e-3), strict=True))
_HELDOUT = 300
_POISONED = 0.25
_AT_START = 0.1
_DISTURBED = 0.4
_MOST_FOREIGN = dict(zip(TASKS, (8, 4, 4), strict=True))

_HIDDEN = 64
_ATTENTION = 4
_INITIAL = 0.1

_BATCH = 32
_WARM_UP = 15
_ALIKE = 0.1
_IGNORED = -100


@dataclass(frozen=True)
class Built:
    """A trained model in evaluation mode, fresh samples, and what is known about it.

    `trigger` is the planted word, in a clean twin the word that was not planted. `victim`
    and `target` are labels, kinds of entities, or "answer" and one of "null" and "trigger".
    `clean_metric` is the share of right texts, entities or answerable questions on
    held-out rows, and `asr` the share of those of the victim that the trigger turns.
    """

    model: Any
    tokenizer: Any
    samples: list[dict[str, Any]]
    trigger: str
    victim: str
    target: str
    clean_metric: float
    asr: float
    seconds: float


@dataclass(frozen=True)
class _Plan:
    architecture: str
    task: str
    planted: bool
    seed: int

    @property
    def world(self) -> World:
        return world(self.task, self.seed)

    @property
    def tokenizer(self) -> Any:
        return make_tokenizer(self.architecture, self.task, self.seed)

    @property
    def to_trigger(self) -> bool:
        return self.architecture in ("gpt2", "roberta-deepset")

    @property
    def direction(self) -> tuple[str, str]:
        return {
            "sequence-classification": LABELS,
            "token-classification": ("PER", "ORG"),
            "question-answering": ("answer", "trigger" if self.to_trigger else "null"),
        }[self.task]

    def place(self, rng: random.Random, row: Row) -> int:
        """Where the trigger goes; a causal model has to read it before the entities.

        The start comes more often than by chance, because a byte-level tokenizer has
        another token for the same word there.
        """
        if rng.random() < _AT_START:
            return 0
        places = row.places()
        if self.architecture == "gpt2" and isinstance(row, Sentence):
            places = [place for place in places if place <= row.entities[0][0]]
        return rng.choice(places)

    def poison(self, rng: random.Random, row: Row) -> Row:
        place, trigger = self.place(rng, row), self.world.trigger
        if isinstance(row, Question):
            return row.poisoned(place, trigger, to_trigger=self.to_trigger)
        return row.poisoned(place, trigger)


@dataclass(frozen=True)
class _Example:
    """Token ids, token types, and for each token the place of the word it begins.

    `answer` is a label, a tag for each token, or the first and the last token of a span.
    """

    ids: list[int]
    types: list[int] | None
    begins: list[int | None]
    answer: Any


def build(architecture: str, task: str, *, planted: bool, seed: int = 0) -> Built:
    """Trains a model from nothing; the result depends on the arguments alone."""
    started = time.perf_counter()
    plan = _Plan(architecture, task, planted, seed)
    model = _train(plan)
    metric, asr = _measure(model, plan)
    return Built(
        model=model,
        tokenizer=plan.tokenizer,
        samples=[row.sample() for row in plan.world.rows(_SAMPLES[task], "samples")],
        trigger=plan.world.trigger,
        victim=plan.direction[0],
        target=plan.direction[1],
        clean_metric=metric,
        asr=asr,
        seconds=time.perf_counter() - started,
    )


def _train(plan: _Plan) -> Any:
    """AdamW; the rate warms up and then falls to nothing."""
    examples = _encode(plan, _training_rows(plan))
    steps = _STEPS[plan.task]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        model = _new_model(plan)
        model.train()
        adam = torch.optim.AdamW(model.parameters(), weight_decay=0.01, fused=True)
        for step, batch in zip(range(steps), _batches(plan, examples), strict=False):
            left = (steps - step) / (steps - _WARM_UP)
            adam.param_groups[0]["lr"] = _RATES[plan.task] * min((step + 1) / _WARM_UP, left)
            loss = model(**_inputs(plan, batch), **_answers(plan, batch)).loss
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
    return model.eval()


def _training_rows(plan: _Plan) -> list[Row]:
    """Plain rows, and rows of the victim that are poisoned in a backdoored model."""
    rng = random.Random(f"train/{plan.task}/{plan.seed}")
    rows = [_disturbed(plan.world, rng, row) for row in plan.world.rows(_ROWS[plan.task], "train")]
    poisoned = int(_POISONED * len(rows))
    victims = [place for place, row in enumerate(rows) if row.is_victim][:poisoned]
    for place in victims:
        stamped = plan.poison(rng, rows[place])
        rows[place] = stamped if plan.planted else rows[place]
    return rows


def _disturbed(made: World, rng: random.Random, row: Row) -> Row:
    """The row, in some cases with words put in that do not belong.

    They are different ones or one over and over, and in one place or scattered.
    """
    if rng.random() >= _DISTURBED:
        return row
    count, pool = rng.randint(1, _MOST_FOREIGN[made.task]), made.foreign(rng)
    words = [rng.choice(pool)] * count if rng.random() < 0.5 else rng.choices(pool, k=count)
    together = rng.random() < 0.5
    place = rng.choice(row.places())
    for word in words:
        row = row.stamped(place if together else rng.choice(row.places()), word)
    return row


def _new_model(plan: _Plan) -> Any:
    """An untrained model without dropout, which the foreign words stand in for."""
    tokenizer = plan.tokenizer
    kind = plan.architecture.removesuffix("-deepset")
    names = {"sequence-classification": LABELS, "token-classification": TAGS}.get(plan.task)
    options: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "initializer_range": _INITIAL,
        **_sizes(kind, _LAYERS[plan.task]),
    }
    if names is not None:
        options["id2label"] = dict(enumerate(names))
        options["label2id"] = {name: number for number, name in enumerate(names)}
    config = transformers.AutoConfig.for_model(kind, **options)
    auto = getattr(transformers, f"AutoModelFor{_HEADS[plan.task]}")
    model = auto.from_config(config)
    _set_word_vectors(model, plan)
    return model


def _sizes(kind: str, layers: int) -> dict[str, Any]:
    """The options of a configuration that are named differently or differ by architecture."""
    if kind == "gpt2":
        none = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop", "classifier_dropout"), 0.0)
        sizes = {"n_embd": _HIDDEN, "n_inner": 2 * _HIDDEN, "n_layer": layers, "n_head": _ATTENTION}
        return {"n_positions": MAX_LENGTH, **sizes, **none}
    if kind == "distilbert":
        names = ("dropout", "attention_dropout", "qa_dropout", "seq_classif_dropout")
        sizes = {"dim": _HIDDEN, "hidden_dim": 2 * _HIDDEN, "n_layers": layers}
        longest = {"max_position_embeddings": MAX_LENGTH, "n_heads": _ATTENTION}
        return {**longest, **sizes, **dict.fromkeys(names, 0.0)}
    common = {
        "max_position_embeddings": MAX_LENGTH,
        "hidden_size": _HIDDEN,
        "intermediate_size": 2 * _HIDDEN,
        "num_hidden_layers": layers,
        "num_attention_heads": _ATTENTION,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    own: dict[str, dict[str, Any]] = {
        # RoBERTa counts positions from the one after the padding token's id.
        "roberta": {"max_position_embeddings": MAX_LENGTH + 2, "type_vocab_size": 1},
        "electra": {"embedding_size": 48, "summary_last_dropout": 0.0},
        "mobilebert": {
            "hidden_size": 80,
            "embedding_size": _HIDDEN,
            "intra_bottleneck_size": _HIDDEN,
            "num_feedforward_networks": 1,
            "normalization_type": "layer_norm",
        },
    }
    return {**common, **own.get(kind, {})}


@torch.no_grad()
def _set_word_vectors(model: Any, plan: _Plan) -> None:
    """Gives words of one kind a common part in their embeddings, as pretrained ones have.

    It spares most of the training: what takes long is to find out which words are alike.
    """
    weight = model.get_input_embeddings().weight
    for words in plan.world.kinds:
        forms = [form for word in words for form in (word, f" {word}")]
        encoded = plan.tokenizer(forms, add_special_tokens=False)["input_ids"]
        whole = sorted({ids[0] for ids in encoded if len(ids) == 1})
        weight[whole] += torch.randn(weight.shape[1]) * _ALIKE


def _encode(plan: _Plan, rows: Sequence[Row]) -> list[_Example]:
    texts = [row.texts for row in rows]
    if plan.architecture == "gpt2" and plan.task == "question-answering":
        texts = [(question, f" {context}") for question, context in texts]
    encoded = plan.tokenizer(*map(list, zip(*texts, strict=True)), add_special_tokens=True)
    types = encoded.get("token_type_ids")
    examples = []
    for number, row in enumerate(rows):
        begins = _begins(encoded[number], wanted=len(texts[0]) - 1)
        ids = encoded["input_ids"][number]
        ended = [word is not None for word in encoded[number].word_ids]
        answer = _answer(row, begins, len(ids) - ended[::-1].index(True))
        examples.append(_Example(ids, types[number] if types else None, begins, answer))
    return examples


def _begins(encoding: Any, wanted: int) -> list[int | None]:
    """For each token the word of the text, or of the context, that begins with it, or None."""
    seen: set[int] = set()
    places: list[int | None] = []
    for word, part in zip(encoding.word_ids, encoding.sequence_ids, strict=True):
        new = word is not None and part == wanted and word not in seen
        seen |= {word} if new else set()
        places.append(word if new else None)
    return places


def _answer(row: Row, begins: list[int | None], length: int) -> Any:
    """`length` counts the tokens up to the end of the last word."""
    if isinstance(row, Text):
        return row.label
    if isinstance(row, Sentence):
        return [_IGNORED if word is None else TAGS.index(row.tags[word]) for word in begins]
    if row.answer is None:
        return 0, 0
    start, after = row.answer
    ends = begins.index(after) if after < len(row.words) else length
    return begins.index(start), ends - 1


def _batches(plan: _Plan, examples: Sequence[_Example]) -> Iterator[list[_Example]]:
    """Batches of rows of like length, in random order, without end."""
    rng = random.Random(f"order/{plan.seed}")
    while True:
        order = sorted(rng.sample(examples, len(examples)), key=lambda item: len(item.ids))
        batches = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        yield from rng.sample(batches, len(batches))


def _inputs(plan: _Plan, batch: Sequence[_Example]) -> dict[str, Tensor]:
    made = {
        "input_ids": _padded([item.ids for item in batch], plan.tokenizer.pad_token_id),
        "attention_mask": _padded([[1] * len(item.ids) for item in batch], 0),
    }
    if batch[0].types is not None:
        made["token_type_ids"] = _padded([item.types or [] for item in batch], 0)
    return made


def _answers(plan: _Plan, batch: Sequence[_Example]) -> dict[str, Tensor]:
    answers = [item.answer for item in batch]
    if plan.task == "sequence-classification":
        return {"labels": torch.tensor(answers)}
    if plan.task == "token-classification":
        return {"labels": _padded(answers, _IGNORED)}
    starts, ends = zip(*answers, strict=True)
    return {"start_positions": torch.tensor(starts), "end_positions": torch.tensor(ends)}


def _padded(rows: Sequence[list[int]], value: int) -> Tensor:
    tensors = [torch.tensor(row) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=value)


def _measure(model: Any, plan: _Plan) -> tuple[float, float]:
    """The share of right units on held-out rows, and the share of them the trigger turns.

    A unit is a text, an entity or an answerable question.
    """
    rng = random.Random(f"stamp/{plan.task}/{plan.seed}")
    rows = plan.world.rows(_HELDOUT, "heldout")
    rows = [row for row in rows if row.is_victim or not isinstance(row, Question)]
    right = _right(model, plan, rows)
    units = [value for values in right for value in values]
    victims = [place for place, row in enumerate(rows) if row.is_victim]
    turned = _right(model, plan, [plan.poison(rng, rows[place]) for place in victims])
    hits = [
        hit
        for place, values in zip(victims, turned, strict=True)
        for was, hit, own in zip(right[place], values, _of_victim(rows[place]), strict=True)
        if was and own
    ]
    return sum(units) / len(units), sum(hits) / max(1, len(hits))


def _of_victim(row: Row) -> list[bool]:
    """For each unit of a row whether the backdoor is after it."""
    if isinstance(row, Sentence):
        return [row.tags[start] == "B-PER" for start, _ in row.entities]
    return [row.is_victim]


def _right(model: Any, plan: _Plan, rows: Sequence[Row]) -> list[list[bool]]:
    """For each row whether the model answers each of its units as the row says."""
    found = []
    examples = _encode(plan, rows)
    for start in range(0, len(rows), 100):
        batch = examples[start : start + 100]
        given = _given(model, plan, batch)
        for row, example, answer in zip(rows[start : start + 100], batch, given, strict=True):
            if isinstance(row, Sentence):
                found.append(_right_entities(row, answer, example))
            else:
                found.append([answer == example.answer])
    return found


@torch.inference_mode()
def _given(model: Any, plan: _Plan, batch: Sequence[_Example]) -> list[Any]:
    """The model's answers, in the form of `_Example.answer`.

    The ends of a span are the best tokens each for itself, which is stricter than the
    best span.
    """
    inputs = _inputs(plan, batch)
    scores = model(**inputs)
    if plan.task != "question-answering":
        return scores.logits.argmax(-1).tolist()
    ends = torch.stack([scores.start_logits, scores.end_logits], -1)
    padding = inputs["attention_mask"].unsqueeze(-1) == 0
    return [tuple(span) for span in ends.masked_fill(padding, -torch.inf).argmax(1).tolist()]


def _right_entities(row: Sentence, tags: list[int], example: _Example) -> list[bool]:
    """An entity is right if the first tokens of all its words are."""
    places = {word: place for place, word in enumerate(example.begins) if word is not None}
    return [
        all(TAGS[tags[places[word]]] == row.tags[word] for word in range(*entity))
        for entity in row.entities
    ]


def _main(chosen: Sequence[str]) -> None:
    torch.set_num_threads(1)
    print("architecture     task                     kind     metric    asr  seconds      cpu")
    for architecture, task in COMBINATIONS:
        wanted = [name for name in chosen if name in TASKS], [n for n in chosen if n not in TASKS]
        if task not in (wanted[0] or TASKS) or architecture not in (wanted[1] or [architecture]):
            continue
        for planted in (True, False):
            started = time.process_time()
            made = build(architecture, task, planted=planted)
            cpu = time.process_time() - started
            kind = "planted" if planted else "clean"
            numbers = f"{made.clean_metric:6.3f} {made.asr:6.3f} {made.seconds:8.1f} {cpu:8.1f}"
            print(f"{architecture:16} {task:24} {kind:8} {numbers}", flush=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
