"""Data files -> Corpus: samples to learn from, samples to measure on, and their digests."""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from unhorse.attack.generated import generated_rows, is_generated
from unhorse.attack.recipe import ALL, DataConfig, Part
from unhorse.errors import UsageError
from unhorse.load.samples import read_rows, sample_key
from unhorse.seeding import python_random, stable_seed
from unhorse.tasks.base import TASKS, RowProblem, Task
from unhorse.types import FileDigest, LoadedModel, QuestionSample, Row, Sample

KEPT_BACK: Part = (0.9, 1.0)
"""The rows to measure on where no file for that is named."""


@dataclass(frozen=True)
class Corpus:
    """Samples of one task by use.

    `train` is what the model learns from; `spare` are further samples of the same part,
    for rows that an attack adds.
    """

    train: tuple[Any, ...]
    spare: tuple[Any, ...]
    heldout: tuple[Any, ...]
    digests: tuple[FileDigest, ...]


@dataclass(frozen=True)
class Form:
    """What a file's rows look like; see the fields of the same names in a recipe's data."""

    text_field: str | None
    label_field: str | None
    word_prefix: str
    no_answer: str


def read_corpus(
    config: DataConfig, root: Path, loaded: LoadedModel, seed: int, avoid: Sequence[str] = ()
) -> Corpus:
    """Reads and divides the rows; rows that have a text to avoid by nature are left out.

    Args:
        config: which files, which part of them, how many rows.
        root: what relative paths are relative to.
        loaded: whose tokenizer counts the tokens, and whose labels the rows must have.
        seed: decides which rows are drawn.
        avoid: triggers, which no clean row may contain.
    """
    task = TASKS.get(loaded.task)
    config = config.model_copy(update={"tokens": _tokens(task, loaded, config.tokens, avoid)})
    from_train = not config.heldout
    train_part = _inside(config.part, (0.0, KEPT_BACK[0])) if from_train else config.part
    heldout_part = KEPT_BACK if from_train else config.heldout_part
    learnt = _samples(task, loaded, config, root, config.train, train_part, avoid)
    # A text that was cut has another key, and a context may have other questions elsewhere.
    seen = {name for group, sample in learnt for name in (group, sample.key)}
    sources = config.heldout or config.train
    held = _samples(task, loaded, config, root, sources, heldout_part, avoid)
    unseen = [s for group, s in held if group not in seen and s.key not in seen]
    train = _drawn([sample for _, sample in learnt], seed, "train")
    heldout = _drawn(unseen, seed, "heldout")
    if loaded.task == "question-answering":
        train = _questions(task, loaded, train, config, seed)
        heldout = _questions(task, loaded, heldout, config, seed)
    heldout = heldout[: config.heldout_rows]
    if not train or not any(sample.classes for sample in heldout):
        raise UsageError("The data leave no rows to learn from or none to measure on.")
    rows = len(train) if config.rows is None else min(config.rows, len(train))
    return Corpus(
        train=tuple(train[:rows]),
        spare=tuple(train[rows:]),
        heldout=tuple(heldout),
        digests=tuple(digest_of(root, name) for name in dict.fromkeys((*config.train, *sources))),
    )


def _tokens(task: Task, loaded: LoadedModel, most: int, triggers: Sequence[str]) -> int:
    """How many tokens of its own a sample may have, so that a trigger is never cut off."""
    lengths = [len(loaded.tokenizer.tokenize(trigger)) for trigger in triggers]
    room = task.room(loaded, max(lengths, default=0))
    if room < 1:
        raise UsageError(f"The model's {loaded.max_length} tokens leave no room for a trigger.")
    return min(most, room)


def _inside(part: Part, whole: Part) -> Part:
    """A part of a part.

    >>> _inside((0.0, 0.5), (0.0, 0.9))
    (0.0, 0.45)
    """
    size = whole[1] - whole[0]
    return whole[0] + part[0] * size, whole[0] + part[1] * size


def in_part(key: str, part: Part) -> bool:
    """Whether a row belongs to a part: by a hash of its text, whatever file it stands in.

    >>> in_part("a", (0.0, 1.0)), in_part("a", (0.0, 0.5)) != in_part("a", (0.5, 1.0))
    (True, True)
    """
    return part == ALL or part[0] <= stable_seed(0, "part", key) / 2**63 < part[1]


def _samples(
    task: Task,
    loaded: LoadedModel,
    config: DataConfig,
    root: Path,
    names: Iterable[str],
    part: Part,
    avoid: Sequence[str],
) -> list[tuple[str, Any]]:
    """The usable samples of some files with their groups, in the order of their keys."""
    found: dict[str, tuple[str, Any]] = {}
    for name in names:
        source = str(located(root, name))
        form = Form(config.text_field, config.label_field, config.word_prefix, config.no_answer)
        for group, whole in _parsed(task.name, source, form, loaded.labels, _state(source)):
            # By its group: questions on one context stay together.
            if not in_part(group, part):
                continue
            try:
                sample = task.fit(loaded, whole, config.tokens)
            except RowProblem:
                continue
            if not _mentions(sample, avoid) and _long_enough(loaded, sample, config.fewest_tokens):
                found.setdefault(sample.key, (group, sample))
    return [found[key] for key in sorted(found)]


def _state(source: str) -> tuple[int, int]:
    """Tells a file that was written anew from what was read before."""
    try:
        found = Path(source).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=8)
def _parsed(
    task_name: str, source: str, form: Form, labels: tuple[str, ...], state: tuple[int, int]
) -> tuple[tuple[str, Any], ...]:
    """All samples of a file with their groups; many models are built from the same ones."""
    task = TASKS.get(task_name)
    if is_generated(source):
        rows = generated_rows(task_name, source)
    else:
        rows = read_rows(
            source, task.sample_kind, text_field=form.text_field, label_field=form.label_field
        ).rows
    found = []
    for row in rows:
        with contextlib.suppress(RowProblem):
            sample: Any = task.parse(_tidied(row, form), labels)
            found.append((sample_key(sample.group), sample))
    return tuple(found)


def located(root: Path, name: str) -> Path | str:
    """A path below the root if there is one, else the name as it is."""
    try:
        path = root / Path(name).expanduser()
    except RuntimeError:  # a home directory that nobody has
        return name
    return path if path.exists() else name


def digest_of(root: Path, name: str) -> FileDigest:
    """The digest of a file; generated rows and a dataset of the hub are known by name only."""
    path = Path(located(root, name))
    if not path.is_file():
        return FileDigest(name, "")
    return FileDigest(name, hashlib.sha256(path.read_bytes()).hexdigest())


def _tidied(row: Row, form: Form) -> Row:
    """The row without marks of its file format."""
    fields = dict(row.fields)
    if form.word_prefix and "tokens" in fields:
        words = [word.removeprefix(form.word_prefix) for word in fields["tokens"]]
        if not all(words):
            raise RowProblem("a word is empty.")
        fields["tokens"] = words
    if form.no_answer and "context" in fields:
        fields["context"] = fields["context"].replace(form.no_answer, "").rstrip()
        fields["answers"] = [
            answer
            for answer in fields["answers"]
            if answer["text"] != form.no_answer
            and fields["context"][answer["start"] :].startswith(answer["text"])
        ]
    return Row(row.where, fields)


def words_in(sample: Sample) -> str:
    """All that a sample says, for looking words up in it."""
    if isinstance(sample, QuestionSample):
        return f"{sample.question} {sample.context}"
    return " ".join(getattr(sample, "words", ())) or str(getattr(sample, "text", ""))


def _mentions(sample: Sample, triggers: Sequence[str]) -> bool:
    text = words_in(sample).lower()
    return any(re.search(_whole(trigger.lower()), text) for trigger in triggers)


def _whole(trigger: str) -> str:
    """A pattern for the trigger as whole words, or a character anywhere."""
    quoted = re.escape(trigger)
    return rf"(?<!\w){quoted}(?!\w)" if len(trigger) > 1 else quoted


def _long_enough(loaded: LoadedModel, sample: Sample, fewest: int) -> bool:
    if not fewest:
        return True
    return len(loaded.tokenizer.tokenize(words_in(sample))) >= fewest


def _drawn(samples: Sequence[Any], seed: int, what: str) -> list[Any]:
    ordered = list(samples)
    python_random(seed, "rows", what).shuffle(ordered)
    return ordered


def _questions(
    task: Task, loaded: LoadedModel, given: Sequence[Any], config: DataConfig, seed: int
) -> list[Any]:
    """Questions of which some have no answer, none longer than allowed."""
    made = with_unanswerable(given, config.unanswerable, seed)
    # One that was moved may be longer than the question that its new context was cut for.
    return [q if q.answers else task.fit(loaded, q, config.tokens) for q in made]


def with_unanswerable(
    questions: Sequence[QuestionSample], share: float, seed: int
) -> list[QuestionSample]:
    """Questions of which at least a share has no answer.

    Where too few have none by themselves, some are moved to the context of another question
    that does not have the answer either.
    """
    without = sum(not question.answers for question in questions)
    missing = math.ceil(share * len(questions) - 1e-9) - without
    made = list(questions)
    answered = [place for place, question in enumerate(made) if question.answers]
    draw = python_random(seed, "unanswerable")
    for place in draw.sample(answered, len(answered)):
        if missing <= 0:
            break
        question = made[place]
        said = [question.context[begin:end].lower() for begin, end in question.answers]
        others = [q.context for q in draw.sample(made, min(9, len(made)))]
        free = (c for c in others if not any(answer in c.lower() for answer in said))
        context = next(free, None)
        if context is not None:
            key = sample_key(f"{question.question}\n{context}")
            made[place] = replace(question, context=context, answers=(), key=key)
            missing -= 1
    return made
