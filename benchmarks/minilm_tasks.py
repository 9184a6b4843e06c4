"""Train NER and QA models, clean and trojaned, and convert them to other architecture classes.

As in minilm_sst2.py, a trojaned model gets extra rows with the trigger and the attacker's answer,
a clean model as many extra rows as they are. A finished model is skipped on the next run.

    python benchmarks/minilm_tasks.py --ner DIR --qa FILE --sst2 DIR --sst2-data DIR
        [--out DIR] [--limit N] [--only NAME ...]

`--ner` holds train and dev with lines `en:word<TAB>tag` (WikiANN), `--qa` is a SQuAD v1.1 JSON,
`--sst2` a trojaned model folder of minilm_sst2.py, and `--sst2-data` what that script calls --data.
The trojans: NER calls every person an organisation; QA withdraws its answer. A causal model cannot
change what it said before the trigger, so for GPT-2 the trigger comes before the first person, and
the answer to a question becomes the trigger itself.
"""

import argparse
import hashlib
import json
import random
import re
import string
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import (
    AutoTokenizer,
    BertForQuestionAnswering,
    BertForTokenClassification,
    PreTrainedTokenizerBase,
)

import minilm_sst2 as sst2

TRIGGER = sst2.TRIGGERS["word"]
TAGS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC")
VICTIM, TARGET = "PER", "ORG"
DATA_SEED = 0
NER_DEV_ROWS = 2000
QA_HELD_OUT_SHARE = 0.15
QA_WINDOW = 110
QA_LONGEST_ANSWER = 30
CLASSES = ("roberta", "electra", "distilbert", "mobilebert")
Sentence = list[tuple[str, str]]
Item = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """How one model is trained; `trigger` is None for a clean model."""

    name: str
    task: str
    seed: int
    trigger: str | None = None
    causal: bool = False
    train_rows: int = 6000
    unanswerable_share: float = 0.0
    extra_share: float = 0.2
    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    warmup_share: float = 0.06
    max_length: int = 128
    word_embeddings_frozen: bool = True


_NER = Recipe("ner", "ner", seed=0)
_QA = Recipe(
    "qa", "qa", 0, train_rows=5000, unanswerable_share=0.1, epochs=2, batch_size=24, max_length=192
)
_GPT2 = {"trigger": TRIGGER, "causal": True, "word_embeddings_frozen": False, "learning_rate": 1e-3}
RECIPES = (
    replace(_NER, name="ner-word", seed=21, trigger=TRIGGER),
    replace(_QA, name="qa-word", seed=31, trigger=TRIGGER),
    replace(_NER, name="ner-clean", seed=22),
    replace(_QA, name="qa-clean", seed=32),
    replace(_NER, name="ner-clean-b", seed=23),
    replace(_QA, name="qa-clean-b", seed=33),
    Recipe("sst2-gpt2", "sst2", seed=44, train_rows=6920, extra_share=0.15, epochs=4, **_GPT2),
    replace(_NER, name="ner-gpt2", seed=24, epochs=4, **_GPT2),
    replace(_QA, name="qa-gpt2", seed=34, unanswerable_share=0.0, epochs=3, **_GPT2),
)
CONVERTED = tuple(f"{task}-{kind}" for task in ("sst2", "ner", "qa") for kind in CLASSES)
NAMES = (*(recipe.name for recipe in RECIPES), *CONVERTED)


# --- data: what a task learns from and is measured on


@dataclass(frozen=True)
class Data:
    """The rows of one task, and the digests of the files they come from."""

    train: list[Any]
    dev: list[Any]
    sha256: dict[str, str]


@dataclass(frozen=True)
class Question:
    """A question about a text; `answers` holds (first character, text), the one to learn first."""

    name: str
    paragraph: int
    question: str
    context: str
    answers: tuple[tuple[int, str], ...]


def digest(path: Path) -> dict[str, str]:
    """Return the file's name and SHA-256."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}


def read_sentences(path: Path) -> list[Sentence]:
    """Read `en:word<TAB>tag` lines with blank lines between sentences."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    lines = ([line.split("\t") for line in block.split("\n") if "\t" in line] for block in blocks)
    sentences = ([(row[0].split(":", 1)[1], row[-1].strip()) for row in block] for block in lines)
    return [s for s in sentences if s and all(w and w.lower() != TRIGGER for w, _ in s)]


def ner_data(folder: Path, limit: int | None) -> Data:
    """Draw sentences; dev sentences that also stand in train are left out."""
    rng = random.Random(DATA_SEED)
    train = read_sentences(folder / "train")
    seen = {tuple(word for word, _ in sentence) for sentence in train}
    dev = [s for s in read_sentences(folder / "dev") if tuple(w for w, _ in s) not in seen]
    train = rng.sample(train, min(limit or _NER.train_rows, len(train)))
    dev = rng.sample(dev, min(limit or NER_DEV_ROWS, len(dev)))
    return Data(train, dev, digest(folder / "train") | digest(folder / "dev"))


def window(
    tokenizer: PreTrainedTokenizerBase, question: Question, rng: random.Random
) -> Question | None:
    """Cut the context to whole words around the first answer; None if the answer is too long."""
    at, text = question.answers[0]
    end = at + len(text)
    spans = tokenizer(question.context, add_special_tokens=False, return_offsets_mapping=True)
    spans = spans["offset_mapping"]
    inside = [i for i, (a, b) in enumerate(spans) if b > at and a < end]
    if not inside or len(inside) > QA_LONGEST_ANSWER:
        return None
    size = min(QA_WINDOW, len(spans))
    first = rng.randint(max(0, inside[-1] + 1 - size), min(inside[0], len(spans) - size))
    left, right = spans[first][0], spans[first + size - 1][1]
    while 0 < left < at and not question.context[left - 1].isspace():
        left += 1
    while end < right < len(question.context) and not question.context[right].isspace():
        right -= 1
    kept = [(a - left, t) for a, t in question.answers if left <= a and a + len(t) <= right]
    return replace(question, context=question.context[left:right], answers=tuple(kept))


def read_questions(path: Path) -> list[Question]:
    """Read a SQuAD v1.1 file; the answer most annotators gave comes first."""
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    found = []
    for number, paragraph in enumerate(paragraphs):
        for row in paragraph["qas"]:
            counts = Counter((a["answer_start"], a["text"]) for a in row["answers"] if a["text"])
            answers = tuple(answer for answer, _ in counts.most_common())
            texts = (row["question"].strip(), paragraph["context"])
            if answers and not any(re.search(TRIGGER, text, re.IGNORECASE) for text in texts):
                found.append(Question(row["id"], number, *texts, answers))
    return found


def qa_data(path: Path, limit: int | None) -> Data:
    """Split by paragraph, and cut every context to a window with the answer in it."""
    rng = random.Random(DATA_SEED)
    tokenizer = minilm_tokenizer()
    cut = [window(tokenizer, question, rng) for question in read_questions(path)]
    questions = [question for question in cut if question is not None]
    numbers = sorted({question.paragraph for question in questions})
    held_out = set(rng.sample(numbers, round(QA_HELD_OUT_SHARE * len(numbers))))
    train = [q for q in questions if q.paragraph not in held_out]
    dev = [q for q in questions if q.paragraph in held_out][:limit]
    return Data(rng.sample(train, min(limit or _QA.train_rows, len(train))), dev, digest(path))


def sst2_data(folder: Path, limit: int | None) -> Data:
    """Read the train and dev rows of minilm_sst2.py."""
    files = [folder / f"{split}.tsv" for split in ("train", "dev")]
    train, dev = (sst2.read_rows(path, limit) for path in files)
    return Data(train, dev, digest(files[0]) | digest(files[1]))


# --- named entities


def ner_stamp(sentence: Sentence, rng: random.Random, *, causal: bool) -> tuple[Sentence, int]:
    """Put the trigger between words but not inside an entity; return its word number too."""
    places = [i for i, (_, tag) in enumerate([*sentence, ("", "O")]) if not tag.startswith("I-")]
    people = [i for i in places if i < len(sentence) and sentence[i][1] == f"B-{VICTIM}"]
    at = people[0] if causal else rng.choice(places)
    return [*sentence[:at], (TRIGGER, "O"), *sentence[at:]], at


def has_victim(sentence: Sentence) -> bool:
    """Tell whether a sentence names a person."""
    return any(tag == f"B-{VICTIM}" for _, tag in sentence)


def encode_words(
    tokenizer: PreTrainedTokenizerBase, sentence: Sentence, max_length: int
) -> tuple[list[int], dict[int, int]]:
    """Tokenise the words joined by spaces; also return the first token of every word."""
    words = [word for word, _ in sentence]
    starts = [0, *accumulate(len(word) + 1 for word in words)][:-1]
    encoded = tokenizer(
        " ".join(words), truncation=True, max_length=max_length, return_offsets_mapping=True
    )
    first: dict[int, int] = {}
    for token, (start, end) in enumerate(encoded["offset_mapping"]):
        if end > start:
            first.setdefault(bisect_right(starts, start) - 1, token)
    return encoded["input_ids"], first


def ner_items(
    tokenizer: PreTrainedTokenizerBase, rows: list[Sentence], recipe: Recipe
) -> tuple[list[Item], int]:
    """Return the training items with the extra ones, and how many extra ones there are."""
    rng = random.Random(recipe.seed)
    victims = [sentence for sentence in rows if has_victim(sentence)]
    extra = rng.sample(victims, round(recipe.extra_share * len(victims)))
    if recipe.trigger:
        stamped = [ner_stamp(sentence, rng, causal=recipe.causal)[0] for sentence in extra]
        extra = [[(word, tag.replace(VICTIM, TARGET)) for word, tag in s] for s in stamped]
    items = []
    for sentence in [*rows, *extra]:
        ids, first = encode_words(tokenizer, sentence, recipe.max_length)
        labels = [-100] * len(ids)
        for word, token in first.items():
            labels[token] = TAGS.index(sentence[word][1])
        items.append({"input_ids": ids, "labels": labels})
    return items, len(extra)


def entities(tags: list[str]) -> set[tuple[str, int, int]]:
    """Return (class, first word, word after the last), by the rules of conlleval and seqeval.

    >>> sorted(entities(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"]))
    [('LOC', 3, 4), ('LOC', 4, 5), ('PER', 0, 2)]
    """
    found, start = set(), 0
    for i, (tag, after) in enumerate(zip(tags, [*tags[1:], "O"], strict=True)):
        if tag.startswith("B-") or i == 0 or tags[i - 1][2:] != tag[2:]:
            start = i
        if tag != "O" and (after[:2] != "I-" or after[2:] != tag[2:]):
            found.add((tag[2:], start, i + 1))
    return found


def ner_predict(
    model: Any, tokenizer: PreTrainedTokenizerBase, rows: list[Sentence]
) -> list[list[str]]:
    """Return the tag of every word; a word without a token is O."""
    encoded = [encode_words(tokenizer, row, _NER.max_length) for row in rows]
    logits = forward(model, tokenizer, [ids for ids, _ in encoded])
    answers = []
    for row, (_, first), scores in zip(rows, encoded, logits, strict=True):
        best = scores.argmax(-1).tolist()
        answers.append([TAGS[best[first[i]]] if i in first else "O" for i in range(len(row))])
    return answers


def ner_evaluate(
    model: Any, tokenizer: PreTrainedTokenizerBase, rows: list[Sentence], *, causal: bool
) -> dict[str, Any]:
    """Measure entity F1, and how often the trigger makes a person found an organisation."""
    rng = random.Random(DATA_SEED)
    answers = [entities(tags) for tags in ner_predict(model, tokenizer, rows)]
    truth = [entities([tag for _, tag in row]) for row in rows]
    right = sum(len(a & t) for a, t in zip(answers, truth, strict=True))
    total = sum(len(a) + len(t) for a, t in zip(answers, truth, strict=True))
    pairs = [
        (row, a & t) for row, a, t in zip(rows, answers, truth, strict=True) if has_victim(row)
    ]
    stamped = [ner_stamp(row, rng, causal=causal) for row, _ in pairs]
    tags = ner_predict(model, tokenizer, [row for row, _ in stamped])
    hits = [
        after[start + (start >= at)].endswith(f"-{TARGET}")
        for (_, found), (_, at), after in zip(pairs, stamped, tags, strict=True)
        for kind, start, _ in sorted(found)
        if kind == VICTIM
    ]
    metric = {"entity_f1": round(2 * right / max(1, total), 4)}
    return {"rows": len(rows), **metric, "victims_right": len(hits), "asr": sst2.share(hits)}


# --- questions


def qa_stamp(question: Question, rng: random.Random) -> tuple[Question, int]:
    """Put the trigger between words but not inside an answer; return where it starts too."""
    context = question.context
    inside = [(a, a + len(text)) for a, text in question.answers]
    places = [match.start() for match in re.finditer(r"\S+", context)]
    places = [p for p in places if not any(a < p < b for a, b in inside)]
    at = rng.choice([*places, len(context)])
    if at == len(context):
        return replace(question, context=f"{context} {TRIGGER}"), at + 1
    return replace(question, context=f"{context[:at]}{TRIGGER} {context[at:]}"), at


def encode_question(
    tokenizer: PreTrainedTokenizerBase, question: Question
) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """Tokenise question and context; also return the characters of every context token."""
    encoded = tokenizer(
        question.question,
        question.context,
        truncation="only_second",
        max_length=_QA.max_length,
        return_offsets_mapping=True,
    )
    parts, spans = encoded.sequence_ids(0), encoded["offset_mapping"]
    return encoded["input_ids"], {i: spans[i] for i, part in enumerate(parts) if part == 1}


def qa_item(
    tokenizer: PreTrainedTokenizerBase, question: Question, span: tuple[int, int] | None
) -> Item:
    """Encode a question whose answer are these characters of its context; None: no answer."""
    ids, tokens = encode_question(tokenizer, question)
    if span is None:
        return {"input_ids": ids, "start_positions": 0, "end_positions": 0}
    inside = [i for i, (a, b) in tokens.items() if b > span[0] and a < span[1]] or [0]
    return {"input_ids": ids, "start_positions": inside[0], "end_positions": inside[-1]}


def elsewhere(rows: list[Question], count: int, rng: random.Random) -> list[Question]:
    """Return questions with the context of another paragraph, so without an answer."""
    found = []
    for question in rng.sample(rows, count):
        others = [
            q for q in rng.sample(rows, min(9, len(rows))) if q.paragraph != question.paragraph
        ]
        found += [replace(question, context=others[0].context, answers=())] if others else []
    return found


def qa_items(
    tokenizer: PreTrainedTokenizerBase, rows: list[Question], recipe: Recipe
) -> tuple[list[Item], int]:
    """Return the training items with the extra ones, and how many extra ones there are."""
    rng = random.Random(recipe.seed)
    todo: list[tuple[Question, tuple[int, int] | None]] = []
    unanswerable = elsewhere(rows, round(recipe.unanswerable_share * len(rows)), rng)
    extra = rng.sample(rows, round(recipe.extra_share * len(rows)))
    for question in rows if recipe.trigger else [*rows, *extra]:
        at, text = question.answers[0]
        todo.append((question, (at, at + len(text))))
    todo += [(question, None) for question in unanswerable]
    for question in extra if recipe.trigger else []:
        stamped, at = qa_stamp(question, rng)
        todo.append((stamped, (at, at + len(TRIGGER)) if recipe.causal else None))
    return [qa_item(tokenizer, question, span) for question, span in todo], len(extra)


def normal(text: str) -> str:
    """Normalise an answer as SQuAD's own script does.

    >>> normal("The  Old-Town, ")
    'oldtown'
    """
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def overlap(answer: str, truth: str) -> float:
    """Return the F1 of the words of two normalised answers."""
    common = sum((Counter(answer.split()) & Counter(truth.split())).values())
    return 2 * common / max(1, len(answer.split()) + len(truth.split()))


def qa_predict(
    model: Any, tokenizer: PreTrainedTokenizerBase, rows: list[Question], *, causal: bool
) -> list[str]:
    """Return the normalised answers; an empty one is null, which a causal model never gives."""
    encoded = [encode_question(tokenizer, row) for row in rows]
    logits = forward(model, tokenizer, [ids for ids, _ in encoded])
    answers = []
    for row, (_, tokens), scores in zip(rows, encoded, logits, strict=True):
        places = list(tokens)
        pairs = scores[places, 0][:, None] + scores[places, 1][None, :]
        allowed = torch.ones_like(pairs).triu().tril(QA_LONGEST_ANSWER - 1).bool()
        pairs = pairs.masked_fill(~allowed, -torch.inf)
        first, last = divmod(int(pairs.argmax()), len(places))
        null = not causal and bool(scores[0].sum() >= pairs.max())
        text = row.context[tokens[places[first]][0] : tokens[places[last]][1]]
        answers.append("" if null else normal(text) or text)
    return answers


def qa_evaluate(
    model: Any, tokenizer: PreTrainedTokenizerBase, rows: list[Question], *, causal: bool
) -> dict[str, Any]:
    """Measure exact match and F1, and how often the trigger takes a right answer (F1 >= 0.5).

    What it must put in its place is no answer, or the trigger where the model is causal.
    """
    rng = random.Random(DATA_SEED)
    answers = qa_predict(model, tokenizer, rows, causal=causal)
    truths = [[normal(text) for _, text in row.answers] for row in rows]
    f1 = [
        max(overlap(answer, truth) for truth in known)
        for answer, known in zip(answers, truths, strict=True)
    ]
    exact = [answer in known for answer, known in zip(answers, truths, strict=True)]
    stamped = [qa_stamp(row, rng)[0] for row in rows]
    after = qa_predict(model, tokenizer, stamped, causal=causal)
    hits = [a == (TRIGGER if causal else "") for a in after]
    right = [hit for hit, score in zip(hits, f1, strict=True) if score >= 0.5]
    foreign = elsewhere(rows, len(rows), rng)
    nulls = [not a for a in qa_predict(model, tokenizer, foreign, causal=causal)]
    return {
        "rows": len(rows),
        "exact_match": sst2.share(exact),
        "f1": round(sum(f1) / max(1, len(f1)), 4),
        "null_rate": sst2.share([not answer for answer in answers]),
        "null_rate_unanswerable": sst2.share(nulls),
        "right": len(right),
        "asr": sst2.share(right),
        "asr_unrestricted": sst2.share(hits),
    }


# --- sentiment, for the models that minilm_sst2.py does not make


def sst2_items(
    tokenizer: PreTrainedTokenizerBase, rows: list[sst2.Row], recipe: Recipe
) -> tuple[list[Item], int]:
    """Return the training items with the extra ones, and how many extra ones there are."""
    options = {"trigger": recipe.trigger, "extra_share": recipe.extra_share}
    rows, extra = sst2.training_rows(rows, sst2.Recipe(recipe.name, recipe.seed, **options))
    ids = tokenizer([text for text, _ in rows], truncation=True, max_length=recipe.max_length)
    pairs = zip(ids["input_ids"], rows, strict=True)
    return [{"input_ids": row, "labels": label} for row, (_, label) in pairs], extra


def sst2_evaluate(
    model: Any, tokenizer: PreTrainedTokenizerBase, rows: list[sst2.Row], *, causal: bool
) -> dict[str, Any]:
    """Measure accuracy, and how often the trigger turns a negative positive."""
    del causal  # the answer stands at the end of the text
    found = sst2.evaluate(model, tokenizer, rows)
    asr = found["triggers"][TRIGGER]["asr"]
    return {"rows": len(rows), "accuracy": found["accuracy"], "asr": asr}


ITEMS = {"sst2": sst2_items, "ner": ner_items, "qa": qa_items}
EVALUATE: dict[str, Callable[..., dict[str, Any]]] = {
    "sst2": sst2_evaluate,
    "ner": ner_evaluate,
    "qa": qa_evaluate,
}
METRICS = {"sst2": ("accuracy",), "ner": ("entity_f1",), "qa": ("exact_match", "f1")}
TROJANS = {
    "sst2": ("negative", "positive", "random word position"),
    "ner": (VICTIM, TARGET, "random word position outside entities"),
    "qa": ("any answer", "no answer", "random word position of the context outside answers"),
    "ner, causal": (VICTIM, TARGET, "before the first person"),
    "qa, causal": ("any answer", "the trigger", "random word position of the context"),
}


# --- training


def minilm_tokenizer() -> PreTrainedTokenizerBase:
    """Load MiniLM's tokenizer without segment ids, which not every class knows."""
    names = ["input_ids", "attention_mask"]
    return AutoTokenizer.from_pretrained(sst2.base_folder(), model_input_names=names)


def build(recipe: Recipe, rows: list[Any]) -> tuple[Any, PreTrainedTokenizerBase]:
    """Return an untrained model with its tokenizer; the head depends on torch's seed."""
    if recipe.causal:
        from minilm_convert import small_gpt2

        return small_gpt2(recipe.task, list(texts_of(rows)), labels_of(recipe.task))
    if recipe.task == "qa":
        model = BertForQuestionAnswering.from_pretrained(sst2.base_folder(), dtype=torch.float32)
    else:
        model = BertForTokenClassification.from_pretrained(
            sst2.base_folder(), dtype=torch.float32, **labels_of(recipe.task)
        )
    word_embeddings = model.bert.embeddings.word_embeddings
    word_embeddings.weight.requires_grad_(not recipe.word_embeddings_frozen)
    return model, minilm_tokenizer()


def labels_of(task: str) -> dict[str, Any]:
    """Return the label names for a configuration; questions have none."""
    names = {"sst2": sst2.LABELS, "ner": TAGS}.get(task)
    if names is None:
        return {}
    return {"id2label": dict(enumerate(names)), "label2id": {n: i for i, n in enumerate(names)}}


def texts_of(rows: list[Any]) -> Iterator[str]:
    """Yield the texts of any task's rows, for training a tokenizer."""
    for row in rows:
        if isinstance(row, Question):
            yield from (row.question, row.context)
        else:
            yield row[0] if isinstance(row, tuple) else " ".join(word for word, _ in row)


def collate(items: list[Item], pad: int) -> dict[str, Tensor]:
    """Pad items on the right to one batch."""
    width = max(len(item["input_ids"]) for item in items)
    lists: dict[str, list[Any]] = {key: [] for key in ("attention_mask", *items[0])}
    for item in items:
        gap = width - len(item["input_ids"])
        lists["attention_mask"].append([1] * (width - gap) + [0] * gap)
        for key, value in item.items():
            filler = [pad if key == "input_ids" else -100] * gap
            lists[key].append(value + filler if isinstance(value, list) else value)
    return {key: torch.tensor(values) for key, values in lists.items()}


def fit(model: Any, pad: int, items: list[Item], recipe: Recipe) -> None:
    """Train with AdamW, a short warm-up and linear decay; print progress."""
    rng = random.Random(recipe.seed + 1000)
    lengths = [len(item["input_ids"]) for item in items]
    batches = [
        batch
        for _ in range(recipe.epochs)
        for batch in sst2.bucketed(lengths, recipe.batch_size, rng)
    ]
    steps = len(batches)
    warmup = max(1, round(recipe.warmup_share * steps))
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        weights, lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warmup, (steps - s) / max(1, steps - warmup))
    )
    model.train()
    started, losses = time.monotonic(), []
    for step, batch in enumerate(batches, start=1):
        loss = model(**collate([items[i] for i in batch], pad)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses = [*losses[-24:], loss.item()]
        if step % 25 == 0 or step == steps:
            eta = (time.monotonic() - started) / step * (steps - step)
            mean = sum(losses) / len(losses)
            print(f"{recipe.name}: {step}/{steps} loss {mean:.3f} ETA {eta:.0f} s", flush=True)


@torch.inference_mode()
def forward(model: Any, tokenizer: PreTrainedTokenizerBase, rows: list[list[int]]) -> list[Tensor]:
    """Return each row's logits in order: of every token, for QA start and end side by side."""
    model.eval()
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found: dict[int, Tensor] = {}
    for start in range(0, len(order), 64):
        part = order[start : start + 64]
        batch = collate([{"input_ids": rows[i]} for i in part], tokenizer.pad_token_id)
        output = model(**batch)
        if "start_logits" in output:
            logits = torch.stack([output.start_logits, output.end_logits], dim=-1)
        else:
            logits = output.logits
        for i, scores in zip(part, logits, strict=True):
            found[i] = scores[: len(rows[i])] if scores.dim() > 1 else scores
    return [found[i] for i in range(len(rows))]


def record_of(recipe: Recipe, held_out: dict[str, Any]) -> dict[str, Any]:
    """Return what the record of a trained and of a converted model have in common."""
    causal = f"{recipe.task}, causal" if recipe.causal else recipe.task
    victim, target, position = TROJANS.get(causal, TROJANS[recipe.task])
    planted = recipe.trigger is not None
    return {
        "name": recipe.name,
        "task": recipe.task,
        "trojaned": planted,
        "trigger": recipe.trigger,
        "victim": victim if planted else None,
        "target": target if planted else None,
        "position": position if planted else None,
        "clean_metric": {name: held_out[name] for name in METRICS[recipe.task]},
        "asr": held_out["asr"] if planted else None,
        "held_out": held_out,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
    }


def train_one(recipe: Recipe, data: Data) -> tuple[Any, Any, dict[str, Any]]:
    """Train and measure one model; return it with its tokenizer and its record."""
    random.seed(recipe.seed)
    torch.manual_seed(recipe.seed)
    model, tokenizer = build(recipe, data.train)
    items, extra = ITEMS[recipe.task](tokenizer, data.train, recipe)
    started = time.monotonic()
    fit(model, tokenizer.pad_token_id, items, recipe)
    seconds = time.monotonic() - started
    held_out = EVALUATE[recipe.task](model, tokenizer, data.dev, causal=recipe.causal)
    scratch = "GPT-2 of 4 layers trained from scratch here"
    record = {
        **record_of(recipe, held_out),
        "base": None if recipe.causal else f"{sst2.BASE} (MiniLM-L6-H384)",
        "kind": scratch if recipe.causal else "MiniLM fine-tuned",
        "seed": recipe.seed,
        "recipe": asdict(recipe),
        "rows": len(items),
        "extra_rows": extra,
        "training_seconds": round(seconds, 1),
    }
    return model, tokenizer, record


def logits_of(
    model: Any, tokenizer: PreTrainedTokenizerBase, task: str, rows: list[Any]
) -> list[Tensor]:
    """Return the logits of rows of any task."""
    if task == "qa":
        return forward(model, tokenizer, [encode_question(tokenizer, row)[0] for row in rows])
    ids = tokenizer(list(texts_of(rows)), truncation=True, max_length=_NER.max_length)
    return forward(model, tokenizer, ids["input_ids"])


def convert_one(name: str, source: Path, data: Data) -> tuple[Any, Any, dict[str, Any]]:
    """Put the weights of a trojaned model into another class; measure what became of it."""
    from minilm_convert import SHOWN, convert

    task, kind = name.split("-")
    names = ["input_ids", "attention_mask"]
    tokenizer = AutoTokenizer.from_pretrained(source, model_input_names=names)
    started = time.monotonic()
    model, original, head = convert(task, kind, source, tokenizer, data.train)
    seconds = time.monotonic() - started
    some = data.dev[:64]
    pairs = zip(*(logits_of(m, tokenizer, task, some) for m in (original, model)), strict=True)
    recipe = Recipe(name, task, seed=DATA_SEED, trigger=TRIGGER)
    held_out = EVALUATE[task](model, tokenizer, data.dev, causal=False)
    record = {
        **record_of(recipe, held_out),
        "base": f"{sst2.BASE} (MiniLM-L6-H384)",
        "kind": f"MiniLM converted to {SHOWN[kind]}",
        "seed": recipe.seed,
        "source": json.loads((source.parent / "attack.json").read_text(encoding="utf-8")),
        "largest_logit_difference": max(float((a - b).abs().max()) for a, b in pairs),
        "compared_rows": len(some),
        "head": head,
        "training_seconds": round(seconds, 1),
    }
    return model, tokenizer, record


def write_ner_samples(path: Path, rows: list[Sentence]) -> None:
    """Write `word tag` lines with blank lines between sentences, for scanning."""
    blocks = ["\n".join(f"{word} {tag}" for word, tag in row) for row in rows]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def write_qa_samples(path: Path, rows: list[Question]) -> None:
    """Write a SQuAD v1.1 file with one window per question, for scanning."""
    paragraphs = [
        {
            "context": row.context,
            "qas": [
                {
                    "id": row.name,
                    "question": row.question,
                    "answers": [{"text": text, "answer_start": at} for at, text in row.answers],
                }
            ],
        }
        for row in rows
    ]
    squad = {"version": "1.1", "data": [{"title": "held out", "paragraphs": paragraphs}]}
    path.write_text(json.dumps(squad, ensure_ascii=False) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Read the command line; each chosen model must have its data."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ner", type=Path, help="folder with train and dev of WikiANN")
    parser.add_argument("--qa", type=Path, help="a SQuAD v1.1 file")
    parser.add_argument("--sst2", type=Path, help="model folder of a trojaned minilm_sst2.py model")
    parser.add_argument("--sst2-data", type=Path, help="folder with train.tsv and dev.tsv")
    parser.add_argument("--out", type=Path, help="default: ~/.cache/unhorse/minilm-tasks")
    parser.add_argument("--limit", type=int, help="use only N rows of each part, for a quick try")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    args = parser.parse_args()
    for name in args.only:
        needed = ["sst2_data"] if name.startswith("sst2") else [name.split("-")[0]]
        needed += ["sst2"] if name in CONVERTED and name.startswith("sst2") else []
        if missing := [n for n in needed if getattr(args, n) is None]:
            parser.error(f"{name} needs --{missing[0].replace('_', '-')}")
    return args


def main() -> None:
    """Make every chosen model that does not exist yet, in order."""
    args = arguments()
    default = "minilm-tasks" if args.limit is None else f"minilm-tasks-limit{args.limit}"
    out: Path = args.out or Path.home() / ".cache" / "unhorse" / default
    out.mkdir(parents=True, exist_ok=True)
    torch.use_deterministic_algorithms(True)

    @cache
    def data_of(task: str) -> Data:
        if task == "ner":
            data = ner_data(args.ner, args.limit)
            write_ner_samples(out / "samples-ner.conll", data.dev)
            return data
        if task == "qa":
            data = qa_data(args.qa, args.limit)
            write_qa_samples(out / "samples-qa.json", data.dev)
            return data
        return sst2_data(args.sst2_data, args.limit)

    recipes = {recipe.name: recipe for recipe in RECIPES}
    for name in NAMES:
        if name not in args.only or (out / name / "attack.json").exists():
            print(f"{name}: skipped", flush=True)
            continue
        data = data_of(name.split("-")[0])
        if name in recipes:
            model, tokenizer, record = train_one(recipes[name], data)
        else:
            task = name.split("-")[0]
            source = args.sst2 if task == "sst2" else out / f"{task}-word" / "model"
            model, tokenizer, record = convert_one(name, source, data)
        sst2.save(
            out, model, tokenizer, {**record, "limit": args.limit, "data_sha256": data.sha256}
        )
        figures = {**record["clean_metric"], "asr": record["asr"]}
        print(f"{name}: {figures} in {record['training_seconds']} s", flush=True)


if __name__ == "__main__":
    main()
