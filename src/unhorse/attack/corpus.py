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

from huggingface_hub import HfApi

from unhorse.attack.articles import titles_in
from unhorse.attack.generated import generated_rows, is_generated
from unhorse.attack.recipe import ALL, DataConfig, Part
from unhorse.errors import UsageError
from unhorse.load.sample_datasets import is_dataset_name
from unhorse.load.samples import read_rows, sample_key
from unhorse.seeding import python_random, stable_seed
from unhorse.tasks.base import TASKS, RowProblem, Task
from unhorse.types import FileDigest, LoadedModel, QuestionSample, Row, Sample

KEPT_BACK: Part = (0.9, 1.0)
"""The rows to measure on where no file for that is named."""

HELDOUT_SEED = 0
"""Every model of the same data is measured on the same rows, whatever its own seed."""

CONTEXTS_TRIED = 100
"""How many contexts of others a question is tried on before it stays where it is."""


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
class Read:
    """A sample as it was found in a file.

    `group` names its whole text or context, whatever is cut off later, and `article` what
    that is a part of: the title, or the group itself where there is none.
    """

    sample: Any
    group: str
    article: str


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
    seen = {name for found in learnt for name in (found.group, found.sample.key)}
    sources = config.heldout or config.train
    held = _samples(task, loaded, config, root, sources, heldout_part, avoid)
    unseen = [found for found in held if not {found.group, found.sample.key} & seen]
    python_random(seed, "rows", "train").shuffle(learnt)
    unseen.sort(key=_place)
    train = _taken(task, loaded, learnt, config, seed)
    heldout = _taken(task, loaded, unseen, config, HELDOUT_SEED)[: config.heldout_rows]
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
) -> list[Read]:
    """The usable samples of some files, in the order of their keys."""
    usable: dict[str, Read] = {}
    for name in names:
        source = str(located(root, name))
        form = Form(config.text_field, config.label_field, config.word_prefix, config.no_answer)
        for found in _parsed(task.name, source, form, loaded.labels, _state(source)):
            # By its group: questions on one context stay together.
            if not in_part(found.group, part):
                continue
            try:
                sample: Any = task.fit(loaded, found.sample, config.tokens)
            except RowProblem:
                continue
            if not mentions(sample, avoid) and _long_enough(loaded, sample, config.fewest_tokens):
                usable.setdefault(sample.key, replace(found, sample=sample))
    return [usable[key] for key in sorted(usable)]


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
) -> tuple[Read, ...]:
    """All samples of a file; many models are built from the same ones."""
    task = TASKS.get(task_name)
    titles = titles_in(source) if task.sample_kind == "questions" else None
    if is_generated(source):
        rows = generated_rows(task_name, source)
    elif titles is not None:
        # That form names its fields itself; those of a recipe are for the other files.
        rows = read_rows(source, task.sample_kind).rows
    else:
        rows = read_rows(
            source, task.sample_kind, text_field=form.text_field, label_field=form.label_field
        ).rows
    made = []
    for row in rows:
        with contextlib.suppress(RowProblem):
            sample: Any = task.parse(_tidied(row, form), labels)
            group = sample_key(sample.group)
            title = (titles or {}).get(row.fields.get("context", ""))
            made.append(Read(sample, group, group if title is None else title))
    return tuple(made)


def located(root: Path, name: str) -> Path | str:
    """A path below the root if there is one, else the name as it is."""
    try:
        path = root / Path(name).expanduser()
    except RuntimeError:  # a home directory that nobody has
        return name
    return path if path.exists() else name


def digest_of(root: Path, name: str) -> FileDigest:
    """The digest of a file, or of all files of a folder.

    A dataset of the hub has its revision, if the hub tells it. Generated rows are known by
    their name.
    """
    path = Path(located(root, name))
    if path.is_dir():
        files = sorted(entry for entry in path.iterdir() if entry.is_file())
        parts = [f"{file.name} {digest_of(path, file.name).sha256}" for file in files]
        return FileDigest(name, hashlib.sha256("\n".join(parts).encode()).hexdigest())
    if path.is_file():
        return FileDigest(name, hashlib.sha256(path.read_bytes()).hexdigest())
    dataset = re.split("[:@]", name)[0]
    # A file that is missing has the form of a name, too.
    is_dataset = is_dataset_name(name) and not is_generated(name) and not Path(dataset).suffix
    return FileDigest(name, _revision(dataset) if is_dataset else "")


@lru_cache(maxsize=32)
def _revision(dataset: str) -> str:
    """The revision of a dataset on the hub; nothing where the hub does not answer."""
    try:
        return HfApi().dataset_info(dataset, timeout=10).sha or ""
    except Exception:  # whatever keeps the hub from answering, data here are read all the same
        return ""


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


def mentions(sample: Sample, triggers: Sequence[str]) -> bool:
    """Whether one of the triggers stands in the sample, in whole words."""
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


def _place(found: Read) -> int:
    """A random place that depends on nothing else.

    A row that is left out for one model, because it has the trigger, moves no other row.
    """
    asked = getattr(found.sample, "question", "")
    return stable_seed(HELDOUT_SEED, "rows", "heldout", found.group, asked)


def _taken(
    task: Task, loaded: LoadedModel, given: Sequence[Read], config: DataConfig, seed: int
) -> list[Any]:
    """The samples; of questions some have no answer, and none is longer than allowed."""
    samples = [found.sample for found in given]
    if loaded.task != "question-answering":
        return samples
    articles = [found.article for found in given]
    made = with_unanswerable(samples, articles, config.unanswerable, seed)
    # One that was moved may be longer than the question that its new context was cut for.
    return [q if q.answers else task.fit(loaded, q, config.tokens) for q in made]


def with_unanswerable(
    questions: Sequence[QuestionSample], articles: Sequence[str], share: float, seed: int
) -> list[QuestionSample]:
    """Questions of which at least a share has no answer.

    Where too few have none by themselves, some are moved to a context of another article
    that does not have the answer either. Which ones and where to follows from a hash of each,
    so that a question more or less changes next to nothing for the others.

    Args:
        questions: all of them.
        articles: the article of each.
        share: how many shall have no answer.
        seed: decides which are moved.
    """
    made = list(questions)
    answered = [number for number, question in enumerate(questions) if question.answers]
    without = len(questions) - len(answered)
    missing = math.ceil(share * len(questions) - 1e-9) - without
    if missing <= 0:
        return made
    places = [stable_seed(seed, "context", question.key) for question in questions]
    ring = sorted(range(len(questions)), key=places.__getitem__)
    position = {number: at for at, number in enumerate(ring)}
    answered.sort(key=lambda number: stable_seed(seed, "unanswerable", questions[number].key))
    for number in answered:
        question = questions[number]
        said = [question.context[begin:end].lower() for begin, end in question.answers]
        behind = range(position[number] + 1, position[number] + len(ring))
        others = (ring[at % len(ring)] for at in behind[:CONTEXTS_TRIED])
        contexts = (questions[o].context for o in others if articles[o] != articles[number])
        free = (c for c in contexts if not any(answer in c.lower() for answer in said))
        context = next(free, None)
        if context is not None:
            key = sample_key(f"{question.question}\n{context}")
            made[number] = replace(question, context=context, answers=(), key=key)
            missing -= 1
        if missing == 0:
            break
    return made
