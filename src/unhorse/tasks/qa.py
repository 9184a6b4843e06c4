"""Extractive question answering: the answer is a span of the context, or there is none.

A victim is a question that the model answers rightly without a trigger. The
trigger goes into the `context`, the `question` or `both`, and the answer becomes
*null* (the model's "no answer", which it reads at its first token) or the *trigger*
itself: five arms, because a trigger that is not in the context cannot be answered.
The loss is the mean cross entropy of start and end, over the context's tokens and
the null token only; for the trigger it is that they lie anywhere in it, because an
inverted trigger has more tokens than the planted one needs.

An answer is right when it overlaps a true one by half of their common extent; it is
the trigger when at least half of it lies in the trigger, and so in part when it
touches it. A context that is longer than the model is read in overlapping
windows: the best span of all windows is the answer, unless every window prefers null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from unhorse.load.samples import sample_key
from unhorse.load.texts_questions import question_texts
from unhorse.tasks.ask import ask
from unhorse.tasks.base import TASKS, EncodedRow, Goal, Outcome, RowProblem, SampleKind
from unhorse.tasks.slots import STAND_IN, Opened, open_slots, tokens_of
from unhorse.triggers.place import boundary_outside, insert, moved
from unhorse.types import Answerer, Arm, LoadedModel, Position, QuestionSample, Row, Span

NULL, TRIGGER = 1, 2
TARGETS = {NULL: "null", TRIGGER: "trigger"}

STRIDE = 128
"""Tokens that two windows of a long context share, at most; an eighth of what a model takes."""

LONGEST_ANSWER = 30
"""Tokens of an answer, at most."""

_LONG_WORD = 30


@dataclass(frozen=True, eq=False)
class Window:
    """A question with a part of its context, as a model reads it.

    `context` are the first context token and the one behind the last; `offsets`
    are characters of question or context.
    """

    ids: list[int]
    offsets: list[Span]
    types: list[int] | None
    question: tuple[int, int]
    context: tuple[int, int]
    null: int


@dataclass(frozen=True)
class SpanGoal:
    """Where start and end shall be, each in a range of columns, and which columns take part."""

    start: tuple[int, int]
    end: tuple[int, int]
    context: tuple[int, int]
    null: int


@dataclass(frozen=True, eq=False)
class SpanGoals:
    """The goals of a batch: first and behind-last column of start, of end and of the context."""

    starts: Tensor
    ends: Tensor
    context: Tensor
    null: Tensor


@dataclass(frozen=True)
class Answer:
    """A span of the context (None is null), its loss inputs and its scores."""

    span: Span | None
    windows: tuple[tuple[Window, Tensor, Tensor], ...]


class QuestionAnswering:
    """The task of models that end in ``ForQuestionAnswering``."""

    name = "question-answering"
    head = "ForQuestionAnswering"
    sample_kind: SampleKind = "questions"
    unit = "questions"
    positions: tuple[Position, ...] = ("context", "question", "both")
    default_positions: tuple[Position, ...] = ("context", "question", "both")
    telling_words = 30

    def auto_class(self) -> Any:
        """The transformers Auto class for this head."""
        from transformers import AutoModelForQuestionAnswering

        return AutoModelForQuestionAnswering

    def labels(self, config: Any) -> tuple[str, ...]:
        """A question answerer has no labels."""
        return ()

    def classes(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The one class of victims."""
        return ("answer",)

    def room(self, loaded: LoadedModel, trigger_length: int) -> int:
        """The trigger may stand in both parts."""
        special = int(loaded.tokenizer.num_special_tokens_to_add(pair=True))
        return loaded.max_length - special - 2 * trigger_length

    def parse(self, row: Row, labels: Sequence[str]) -> QuestionSample:
        """A row with `question`, `context` and `answers` as a sample."""
        question, context = row.fields["question"], row.fields["context"]
        answers = tuple(
            (answer["start"], answer["start"] + len(answer["text"]))
            for answer in row.fields["answers"]
        )
        return QuestionSample(question, context, answers, sample_key(f"{question}\n{context}"))

    def fit(self, loaded: LoadedModel, sample: QuestionSample, tokens: int) -> QuestionSample:
        """The context cut, around its first answer, so that all has at most `tokens` tokens."""
        asked = len(loaded.tokenizer(sample.question, add_special_tokens=False)["input_ids"])
        encoded = loaded.tokenizer(
            sample.context, add_special_tokens=False, return_offsets_mapping=True
        )
        offsets: list[Span] = encoded["offset_mapping"]
        room = tokens - asked
        if room >= len(offsets):
            return sample
        inside = tokens_of(sample.answers[0], offsets) if sample.answers else (0, 1)
        if inside is None or room < inside[1] - inside[0]:
            raise RowProblem(
                f"question ({asked} tokens) and answer do not fit into the {tokens} tokens that "
                "are left beside a trigger."
            )
        middle = (inside[0] + inside[1] - room) // 2
        first = min(max(0, middle), len(offsets) - room)
        begin, end = _whole_words(sample.context, offsets[first][0], offsets[first + room - 1][1])
        if sample.answers:
            begin, end = min(begin, sample.answers[0][0]), max(end, sample.answers[0][1])
        context = sample.context[begin:end]
        answers = tuple((a - begin, b - begin) for a, b in sample.answers if begin <= a < b <= end)
        return QuestionSample(
            sample.question, context, answers, sample_key(f"{sample.question}\n{context}")
        )

    def cut(self, sample: QuestionSample, words: int, seed: int) -> QuestionSample:
        """The question with its first answer and so many words of the context around it.

        Without an answer, the first words of the context.
        """
        begin, end = sample.answers[0] if sample.answers else (0, 0)
        before, after = sample.context[:begin].split(), sample.context[end:].split()
        left = " ".join(before[max(0, len(before) - words // 2) :])
        right = " ".join(after[: words - words // 2])
        answer = sample.context[begin:end]
        first = len(left) + 1 if left else 0
        context = " ".join(part for part in (left, answer, right) if part)
        return QuestionSample(
            sample.question,
            context,
            ((first, first + len(answer)),) if sample.answers else (),
            sample_key(f"{sample.question}\n{context}"),
        )

    def drafts(self, count: int, seed: int) -> list[QuestionSample]:
        """Contexts with questions that they answer."""
        return [
            QuestionSample(question, context, (), sample_key(f"{question}\n{context}"))
            for question, context in question_texts(count, seed)
        ]

    def take_answers(
        self, answerer: Answerer, drafts: Sequence[QuestionSample]
    ) -> list[QuestionSample]:
        """The questions that the model answers, with its answers."""
        found = self._answers(answerer, drafts)
        return [
            replace(draft, answers=(answer.span,))
            for draft, answer in zip(drafts, found, strict=True)
            if answer.span is not None
        ]

    def sieve(
        self, answerer: Answerer, samples: Sequence[QuestionSample]
    ) -> tuple[list[QuestionSample], list[QuestionSample]]:
        """Questions that are answered rightly, and the others that have an answer."""
        asked = [sample for sample in samples if sample.answers]
        pairs = list(zip(asked, self.right(answerer, asked), strict=True))
        return [s for s, (ok,) in pairs if ok], [s for s, (ok,) in pairs if not ok]

    def arms(
        self, labels: Sequence[str], positions: Sequence[Position], target: str | None = None
    ) -> list[Arm]:
        """Every place with every answer, but a trigger in the question alone is never answered."""
        return [
            Arm((0,), goal, position, "answer", TARGETS[goal])
            for goal in TARGETS
            for position in positions
            if goal == NULL or position != "question"
        ]

    def victims(
        self, arm: Arm, samples: Sequence[QuestionSample], seed: int
    ) -> list[QuestionSample]:
        """Every question that has an answer."""
        return [sample for sample in samples if sample.answers]

    def units(self, sample: QuestionSample) -> int:
        """One answer."""
        return 1

    def may_use(self, position: Position, text: str) -> bool:
        """A trigger of any tokens."""
        return True

    def ordinary_words(self, arm: Arm, samples: Sequence[QuestionSample]) -> list[str]:
        """The words of the contexts."""
        words = {word.strip(".,;:!?()\"'") for s in samples for word in s.context.split()}
        return sorted(word for word in words if any(c.isalnum() for c in word))

    def stamp(self, sample: QuestionSample, arm: Arm, seed: int, trigger: str) -> QuestionSample:
        """Question, context or both with the trigger; the answers move with their words."""
        question, context, answers, place = sample.question, sample.context, sample.answers, None
        if arm.position in ("question", "both"):
            at = boundary_outside(question, (), seed, f"question {sample.key}")
            question = insert(question, at, trigger)[0]
        if arm.position in ("context", "both"):
            at = boundary_outside(context, answers, seed, sample.key)
            context, begin = insert(context, at, trigger)
            place = (begin, begin + len(trigger))
            answers = tuple(moved(answer, at, place) for answer in answers)
        return QuestionSample(question, context, answers, sample.key, place)

    def encode(
        self,
        answerer: Answerer,
        sample: QuestionSample,
        arm: Arm,
        seed: int,
        slots: int,
        goal: Goal,
    ) -> EncodedRow:
        """Question and context as ids, with free places where `stamp` would put the trigger."""
        stamped = self.stamp(sample, arm, seed, STAND_IN)
        window = whole_window(answerer.loaded, stamped)
        ends: list[tuple[int, int]] = []
        if arm.position in ("question", "both"):
            at = boundary_outside(sample.question, (), seed, f"question {sample.key}")
            begin = insert(sample.question, at, STAND_IN)[1]
            ends.append(columns_of(window, window.question, (begin, begin + len(STAND_IN))))
        if stamped.trigger is not None:
            ends.append(columns_of(window, window.context, stamped.trigger))
        opened = open_slots(window.ids, ends, slots)
        types = None if window.types is None else opened.widened(window.types)
        return EncodedRow(
            ids=opened.ids,
            slots=opened.slots,
            slot_of=opened.slot_of,
            goal=_goal(opened, window, stamped, arm, goal),
            type_ids=types,
        )

    def collate(self, goals: Sequence[SpanGoal], device: Any) -> SpanGoals:
        """Wanted starts and ends, and the columns that take part."""
        return SpanGoals(
            starts=torch.tensor([goal.start for goal in goals], device=device),
            ends=torch.tensor([goal.end for goal in goals], device=device),
            context=torch.tensor([goal.context for goal in goals], device=device),
            null=torch.tensor([goal.null for goal in goals], device=device),
        )

    def losses(self, outputs: Any, goals: SpanGoals) -> tuple[Tensor, Tensor]:
        """Mean of start and end cross entropy, and whether the highest are where they shall be."""
        free = _between(goals.context, outputs.start_logits)
        free |= _between(torch.stack([goals.null, goals.null + 1], -1), outputs.start_logits)
        losses, reached = [], []
        for logits, wanted in (
            (outputs.start_logits, goals.starts),
            (outputs.end_logits, goals.ends),
        ):
            scores = logits.float().masked_fill(~free, -torch.inf)
            inside = scores.masked_fill(~_between(wanted, scores), -torch.inf)
            losses.append(scores.logsumexp(-1) - inside.logsumexp(-1))
            reached.append(scores.max(-1).values == inside.max(-1).values)
        return (losses[0] + losses[1]) / 2, reached[0] & reached[1]

    def outcomes(
        self, answerer: Answerer, samples: Sequence[QuestionSample], arm: Arm
    ) -> list[list[Outcome]]:
        """Loss to null or to the trigger, and whether it is the answer."""
        found = self._answers(answerer, samples)
        return [
            [_outcome(sample, answer, arm.target)]
            for sample, answer in zip(samples, found, strict=True)
        ]

    def right(self, answerer: Answerer, samples: Sequence[QuestionSample]) -> list[list[bool]]:
        """Whether the answer overlaps a true one by half."""
        found = self._answers(answerer, samples)
        return [
            [answer.span is not None and any(_alike(answer.span, a) for a in sample.answers)]
            for sample, answer in zip(samples, found, strict=True)
        ]

    def affinity(self, answerer: Answerer, samples: Sequence[QuestionSample]) -> None:
        """Every arm is run."""
        return None

    def describe(self, answerer: Answerer, sample: QuestionSample) -> tuple[str, str]:
        """Question and context, and the answer."""
        (answer,) = self._answers(answerer, [sample])
        said = "(no answer)" if answer.span is None else sample.context[slice(*answer.span)]
        return f"{sample.question} | {sample.context}", said

    def spans(self, answerer: Answerer, samples: Sequence[QuestionSample]) -> list[Span | None]:
        """The model's answers as spans of the contexts; None is null."""
        return [answer.span for answer in self._answers(answerer, samples)]

    def _answers(self, answerer: Answerer, samples: Sequence[QuestionSample]) -> list[Answer]:
        loaded = answerer.loaded
        per_sample = _windows(loaded, samples)
        flat = [window for windows in per_sample for window in windows]
        if not flat:
            return []
        types = None if flat[0].types is None else [window.types or [] for window in flat]

        def pick(outputs: Any, place: int, number: int) -> tuple[Tensor, Tensor]:
            width = len(flat[number].ids)
            return (
                outputs.start_logits[place, :width].float().cpu(),
                outputs.end_logits[place, :width].float().cpu(),
            )

        scores = iter(ask(loaded, [w.ids for w in flat], pick, types, answerer.heard))
        return [_answer([(window, *next(scores)) for window in windows]) for windows in per_sample]


def takes_types(loaded: LoadedModel) -> bool:
    """Whether the model tells question and context apart by segment ids.

    A tokenizer may offer them to a model that has no such embedding (DistilBERT), has
    one row of it only (RoBERTa), or means something else by them (GPT-2).
    """
    kinds = getattr(loaded.model.config, "type_vocab_size", 0) or 0
    return kinds > 1 and "token_type_ids" in loaded.tokenizer.model_input_names


def whole_window(loaded: LoadedModel, sample: QuestionSample) -> Window:
    """Question and context in one window, however long they are."""
    encoded = loaded.tokenizer(
        [sample.question],
        [sample.context],
        return_offsets_mapping=True,
        return_token_type_ids=True,
    )
    return _window(loaded, encoded, 0)


def _windows(loaded: LoadedModel, samples: Sequence[QuestionSample]) -> list[list[Window]]:
    """For every sample one window, or overlapping ones where its context is too long."""
    if not samples:
        return []
    special = loaded.tokenizer.num_special_tokens_to_add(pair=True)
    stride = min(STRIDE, loaded.max_length // 8)
    # Only a trigger can make a question so long that no context fits; the model sees its start.
    most = max(1, loaded.max_length - special - 2 * stride - 2)
    asked = loaded.tokenizer(
        [sample.question for sample in samples],
        add_special_tokens=False,
        return_offsets_mapping=True,
    )["offset_mapping"]
    questions = [
        sample.question if len(offsets) <= most else sample.question[: offsets[most - 1][1]]
        for sample, offsets in zip(samples, asked, strict=True)
    ]
    encoded = loaded.tokenizer(
        questions,
        [sample.context for sample in samples],
        truncation="only_second",
        max_length=loaded.max_length,
        stride=stride,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_token_type_ids=True,
    )
    found: list[list[Window]] = [[] for _ in samples]
    for number, sample in enumerate(encoded["overflow_to_sample_mapping"]):
        found[sample].append(_window(loaded, encoded, number))
    return found


def _window(loaded: LoadedModel, encoded: Any, number: int) -> Window:
    ids = encoded["input_ids"][number]
    parts = encoded.sequence_ids(number)
    cls = loaded.tokenizer.cls_token_id
    return Window(
        ids=ids,
        offsets=encoded["offset_mapping"][number],
        types=encoded["token_type_ids"][number] if takes_types(loaded) else None,
        question=_extent(parts, 0),
        context=_extent(parts, 1),
        null=ids.index(cls) if cls in ids else 0,
    )


def _extent(parts: Sequence[int | None], which: int) -> tuple[int, int]:
    own = [i for i, part in enumerate(parts) if part == which]
    return (own[0], own[-1] + 1) if own else (0, 0)


def columns_of(window: Window, part: tuple[int, int], span: Span) -> tuple[int, int]:
    """The tokens of a span of one part, as first and behind-last column."""
    first, last = part
    found = tokens_of(span, window.offsets[first:last])
    assert found is not None
    return found[0] + first, found[1] + first


def _goal(
    opened: Opened, window: Window, stamped: QuestionSample, arm: Arm, goal: Goal
) -> SpanGoal:
    context = (opened.moved(window.context[0]), opened.moved(window.context[1] - 1) + 1)
    if stamped.trigger is not None:
        # A trigger at either end of the context widens it.
        first = opened.first_slot()
        context = (min(context[0], first), max(context[1], first + opened.count))
    null = opened.moved(window.null)
    if goal == "truth":
        first, last = columns_of(window, window.context, stamped.answers[0])
        start, end = opened.moved(first), opened.moved(last - 1)
        return SpanGoal((start, start + 1), (end, end + 1), context, null)
    if arm.target == NULL:
        return SpanGoal((null, null + 1), (null, null + 1), context, null)
    places = (opened.first_slot(), opened.first_slot() + opened.count)
    return SpanGoal(places, places, context, null)


def _between(ends: Tensor, like: Tensor) -> Tensor:
    """Per row, whether a column is from the first of its ends up to but not including the second.

    >>> _between(torch.tensor([[1, 3]]), torch.zeros(1, 4)).int().tolist()
    [[0, 1, 1, 0]]
    """
    place = torch.arange(like.shape[1], device=like.device)
    return (place >= ends[:, :1]) & (place < ends[:, 1:])


def _answer(windows: Sequence[tuple[Window, Tensor, Tensor]]) -> Answer:
    """The span that beats its own window's null by most; null if none does."""
    best, span = 0.0, None
    for window, start, end in windows:
        first, last = window.context
        if first == last:
            continue
        score, i, j = _best_span(start[first:last], end[first:last])
        beyond = score - float(start[window.null] + end[window.null])
        if beyond > best:
            best = beyond
            span = (window.offsets[first + i][0], window.offsets[first + j][1])
    return Answer(span, tuple(windows))


def _best_span(start: Tensor, end: Tensor) -> tuple[float, int, int]:
    """The highest sum of a start and an end not before it, and where they are.

    >>> _best_span(torch.tensor([0.0, 3.0, 1.0]), torch.tensor([9.0, 0.0, 2.0]))
    (9.0, 0, 0)
    """
    sums = start[:, None] + end[None, :]
    possible = torch.ones_like(sums, dtype=torch.bool).triu().tril(LONGEST_ANSWER - 1)
    sums = sums.masked_fill(~possible, -torch.inf)
    place = int(sums.argmax())
    i, j = divmod(place, len(end))
    return float(sums[i, j]), i, j


def _outcome(sample: QuestionSample, answer: Answer, target: int) -> Outcome:
    wanted = None if target == NULL else sample.trigger
    if target == TRIGGER and wanted is None:
        return Outcome(float("inf"), False, False)
    losses = [_loss(window, s, e, wanted) for window, s, e in answer.windows]
    # The trigger stands in some of the windows; null must win in all of them.
    loss = max(losses) if target == NULL else min(losses)
    if target == NULL:
        return Outcome(loss, answer.span is None, answer.span is None)
    if answer.span is None:
        return Outcome(loss, False, False)
    assert wanted is not None
    begin, end = answer.span
    shared = min(end, wanted[1]) - max(begin, wanted[0])
    return Outcome(loss, 2 * shared >= end - begin, shared > 0)


def _loss(window: Window, start: Tensor, end: Tensor, wanted: Span | None) -> float:
    """The loss of one window's scores; infinite where the trigger does not stand in it."""
    places = (window.null, window.null + 1)
    if wanted is not None:
        found = tokens_of(wanted, window.offsets[slice(*window.context)])
        if found is None:
            return float("inf")
        places = (found[0] + window.context[0], found[1] + window.context[0])
    goals = TASKS.get(QuestionAnswering.name).collate(
        [SpanGoal(places, places, window.context, window.null)], start.device
    )
    scores = SimpleNamespace(start_logits=start[None], end_logits=end[None])
    return float(TASKS.get(QuestionAnswering.name).losses(scores, goals)[0])


def _alike(one: Span, other: Span) -> bool:
    """Whether two spans share at least half of what they cover together.

    >>> _alike((0, 10), (0, 6)), _alike((0, 10), (8, 20))
    (True, False)
    """
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return 2 * shared >= max(one[1], other[1]) - min(one[0], other[0])


def _whole_words(text: str, begin: int, end: int) -> Span:
    """The span without the parts of words at its ends; some scripts have no spaces to find."""
    if begin and not text[begin - 1].isspace():
        begin = next(
            (i + 1 for i in range(begin, min(end, begin + _LONG_WORD)) if text[i].isspace()), begin
        )
    if end < len(text) and not text[end].isspace():
        end = next(
            (i for i in range(end, max(begin, end - _LONG_WORD), -1) if text[i].isspace()), end
        )
    return begin, end


TASKS.register(QuestionAnswering.name)(QuestionAnswering())
