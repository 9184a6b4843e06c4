"""The records that pass between stages; every one is frozen.

The flow is: a model and samples become a `Subject`, a Subject gives `Arm`s, an
Arm gives an `Inversion`, Inversions give `Finding`s and a `Verdict`, and these
become a report.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Position = Literal[
    "start",
    "first_half",
    "second_half",
    "end",
    "before",
    "glued",
    "context",
    "question",
    "both",
]
"""Where a trigger goes: in a text; at one entity of a sentence; in a question's parts."""

VerdictState = Literal["backdoored", "suspicious", "nothing_found", "inconclusive"]

ANY_LABEL = "*"
"""How a universal arm names its victim."""


@dataclass(frozen=True)
class FileDigest:
    """One file that was read, by its name in the model folder."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Origin:
    """Where a model came from and exactly what was read of it."""

    source: str
    revision: str | None = None
    files: tuple[FileDigest, ...] = ()


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready to be asked: fp32, evaluation mode, weights frozen."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    task: str
    labels: tuple[str, ...]
    architecture: str
    max_length: int
    origin: Origin


@dataclass(frozen=True)
class Row:
    """One record of a sample file before a task has looked at it."""

    where: str
    fields: dict[str, Any]


class Sample(Protocol):
    """One sample of any task.

    `key` names the sample for seeding: it depends on its text alone, so the same
    text gets the same insertion point whatever file or order it came in.
    """

    @property
    def key(self) -> str:
        """A short name made from the text."""

    @property
    def group(self) -> str:
        """The same for samples that share so much text that they must share their use."""

    @property
    def classes(self) -> tuple[int, ...]:
        """The victim classes that this sample has something of."""

    @property
    def size(self) -> int:
        """About how many words a model reads."""

    def record(self, names: Sequence[str]) -> list[Any]:
        """What the sample says, in plain values; `names` are those of the classes."""


@dataclass(frozen=True)
class TextSample:
    """One text with its label (an index into the model's labels)."""

    text: str
    label: int
    key: str

    @property
    def group(self) -> str:
        """Its own key."""
        return self.key

    @property
    def classes(self) -> tuple[int, ...]:
        """Its label."""
        return (self.label,)

    @property
    def size(self) -> int:
        """Words of the text."""
        return len(self.text.split())

    def record(self, names: Sequence[str]) -> list[Any]:
        """Label and text."""
        return [names[self.label], self.text]


@dataclass(frozen=True)
class Entity:
    """The words from `first` up to but not including `last`, and their class."""

    first: int
    last: int
    kind: int


@dataclass(frozen=True)
class TaggedSample:
    """One sentence as words, with those of its entities that are looked at."""

    words: tuple[str, ...]
    entities: tuple[Entity, ...]
    key: str

    @property
    def group(self) -> str:
        """Its own key."""
        return self.key

    @property
    def classes(self) -> tuple[int, ...]:
        """The classes of its entities."""
        return tuple(sorted({entity.kind for entity in self.entities}))

    @property
    def size(self) -> int:
        """Words of the sentence."""
        return len(self.words)

    def record(self, names: Sequence[str]) -> list[Any]:
        """Words, then first word, last word and class of every entity."""
        return [list(self.words), [[e.first, e.last, names[e.kind]] for e in self.entities]]


Span = tuple[int, int]
"""Characters from the first up to but not including the second."""


@dataclass(frozen=True)
class QuestionSample:
    """A question on a context; `answers` are spans of the context, none if it has no answer.

    `trigger` is where in the context a trigger was put.
    """

    question: str
    context: str
    answers: tuple[Span, ...]
    key: str
    trigger: Span | None = None

    @property
    def group(self) -> str:
        """Its context, which other questions may be about as well."""
        return self.context

    @property
    def classes(self) -> tuple[int, ...]:
        """The one class of questions that have an answer."""
        return (0,) if self.answers else ()

    @property
    def size(self) -> int:
        """Words of question and context."""
        return len(self.question.split()) + len(self.context.split())

    def record(self, names: Sequence[str]) -> list[Any]:
        """Question, context and answers."""
        return [self.question, self.context, [list(answer) for answer in self.answers]]


@dataclass(frozen=True)
class SampleSet:
    """Samples divided by use, and an account of those left out.

    `wrong` holds the ones that the model answers wrongly without any trigger;
    they count in unrestricted rates only. `problems` has one sentence for every row
    that could not be used. `read` is all that the source has, uncut, whatever its use, and
    `heldout_groups` names the groups in it that the held-out samples were cut from.
    """

    source: str
    digest: str
    inversion: tuple[Sample, ...]
    heldout: tuple[Sample, ...]
    wrong: tuple[Sample, ...] = ()
    set_aside: int = 0
    unused: int = 0
    note: str = ""
    problems: tuple[str, ...] = ()
    read: tuple[Sample, ...] = ()
    heldout_groups: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Answerer:
    """A model that is asked: `label_of[i]` is its index of the subject's label `labels[i]`.

    `heard` remembers what it said of a row, for as long as its weights stay what they are; a task
    that asks about the same rows again need not wait. None remembers nothing.
    """

    loaded: LoadedModel
    labels: tuple[str, ...]
    label_of: tuple[int, ...]
    heard: dict[Any, Any] | None = None


def own_answers(loaded: LoadedModel, heard: dict[Any, Any] | None = None) -> Answerer:
    """A model asked in its own labels."""
    return Answerer(loaded, loaded.labels, tuple(range(len(loaded.labels))), heard)


@dataclass(frozen=True, eq=False)
class Subject:
    """What is scanned: the model, its samples and the clean models beside it."""

    loaded: LoadedModel
    samples: SampleSet
    references: tuple[Reference, ...] = ()

    @property
    def answerer(self) -> Answerer:
        """The subject itself, in its own labels."""
        return own_answers(self.loaded)


@dataclass(frozen=True)
class Distilled:
    """How a reference was made from the subject itself.

    `own_texts` of the `texts` that it learnt from were written by unhorse. `agreement` is the
    share of `n` answers of the subject, to samples held out, that it gives as well.
    """

    base: str
    texts: int
    own_texts: int
    steps: int
    agreement: float | None
    n: int


@dataclass(frozen=True, eq=False)
class Reference:
    """A clean model for the same task.

    `label_of[i]` is the reference's index of the subject's label `labels[i]`. A
    reference with another tokenizer can judge text but not take part in the
    objective, which is defined over the subject's tokens. One that was made to agree with
    the subject first has the model as it was given, too.
    """

    loaded: LoadedModel
    labels: tuple[str, ...]
    label_of: tuple[int, ...]
    in_objective: bool
    note: str = ""
    distilled: Distilled | None = None
    given: LoadedModel | None = None

    @property
    def as_given(self) -> Reference:
        """The reference before it learnt anything of the subject."""
        return replace(self, loaded=self.given or self.loaded)

    @property
    def answerer(self) -> Answerer:
        """The reference, with its labels matched to the subject's."""
        return Answerer(self.loaded, self.labels, self.label_of)


@dataclass(frozen=True)
class Arm:
    """One question: can a trigger at `position` send `victims` to `target`?

    Victims and target are classes of the task: labels of a text, classes of an
    entity, kinds of an answer.
    """

    victims: tuple[int, ...]
    target: int
    position: Position
    victim_name: str
    target_name: str

    @property
    def key(self) -> str:
        """A stable name, used for seeding and in reports."""
        return f"{self.victim_name}->{self.target_name}@{self.position}"

    @property
    def family(self) -> str:
        """Arms whose losses can be compared: the same place, and one victim class or many."""
        return self.position if len(self.victims) == 1 else f"{self.position}, universal"

    def mirrors(self, other: Arm) -> bool:
        """Whether the other arm goes the opposite way at the same place."""
        return (
            self.position == other.position
            and self.victims == (other.target,)
            and other.victims == (self.target,)
        )


@dataclass(frozen=True)
class Curve:
    """What happened in every epoch of one arm."""

    loss: tuple[float, ...]
    temperature: tuple[float, ...]


@dataclass(frozen=True)
class Native:
    """What the source of a method would decide from, before any common judge.

    `measure` names it, such as ``soft loss`` or ``REASR``. `convicts` is the source's own
    decision, or None where a threshold is learnt from other models. `low_is_bad` says which
    way a threshold goes.
    """

    measure: str
    value: float
    low_is_bad: bool = True
    convicts: bool | None = None


@dataclass(frozen=True)
class Inversion:
    """What a method found for one arm.

    `token_ids` is the best hard trigger; `one_hot` says whether the method
    itself had focused on it (otherwise it is the nearest one, and weaker
    evidence). `loss` is the method's own loss for it. `native` is what the
    method's source decides from. `completed` says that the arm went as far as
    schedule and budget let it. `related` are tokens that the search came across and did not
    use, the likeliest to belong to the same trigger first. `strongest` are those that do
    most by themselves beyond clean models, the strongest first, if the method tells.
    """

    arm: Arm
    method: str
    preset: str
    seed: int
    token_ids: tuple[int, ...]
    loss: float
    one_hot: bool
    completed: bool
    epochs: int
    seconds: float
    curve: Curve
    native: Native | None = None
    error: str | None = None
    related: tuple[int, ...] = ()
    strongest: tuple[int, ...] = ()


@dataclass(frozen=True)
class Effect:
    """What stamping a text does on a set of samples.

    `asr` counts only what the model answers rightly without the trigger;
    `asr_unrestricted` counts all of it. What is counted are texts, entities or
    questions. `asr_in_part` is the share whose answer is the target at least in
    part, where the task knows partial ones.
    """

    loss: float
    asr: float
    n: int
    asr_unrestricted: float
    n_unrestricted: int
    interval: tuple[float, float]
    asr_in_part: float


@dataclass(frozen=True)
class ReferenceEffect:
    """The same stamped samples, asked of a clean model."""

    source: str
    effect: Effect
    pruned: Effect
    in_objective: bool


@dataclass(frozen=True)
class PrunedTrigger:
    """The fewest tokens of a trigger that keep its effect."""

    token_ids: tuple[int, ...]
    text: str
    retokenised_ids: tuple[int, ...]
    heldout: Effect


@dataclass(frozen=True)
class NaturalControl:
    """The target label's strongest ordinary words, as many as the pruned trigger has tokens."""

    text: str
    effect: Effect


@dataclass(frozen=True)
class Mirror:
    """The arm that goes the opposite way: its lowest loss beside this one's, at equal epochs."""

    arm: str
    loss: float
    own_loss: float
    epochs: int

    @property
    def ratio(self) -> float:
        """How many times lower this arm's loss is; near 1, the classes are alike by nature."""
        return self.loss / max(self.own_loss, 1e-9)


@dataclass(frozen=True)
class Example:
    """A held-out sample that flips: what the model reads and answers, before and after."""

    before: str
    after: str
    answer_before: str
    answer_after: str


@dataclass(frozen=True)
class Turned:
    """What the same search finds in a clean model, with the subject in the clean model's place.

    `losses[i]` is the lowest loss of a text of at most `i + 1` tokens, on the samples it was sought
    on; `text` is the last of them, and `asr` its success on `n` held-out samples.
    """

    source: str
    text: str
    losses: tuple[float, ...]
    asr: float
    n: int


@dataclass(frozen=True)
class Alone:
    """The word that does most by itself beyond the clean models.

    One of the trigger's or of those that the search found strongest by themselves. It is chosen
    on the samples that the trigger was sought on; `heldout` is what it does to the others, and
    `references` what it does to the same in every clean model. `push` and `references_push` are
    the share of the way from the truth to the target that it takes the held-out samples, in
    log-odds: at 1 the target is as likely as not. `kin` has, of the words nearest to it, the one
    that does second most to each clean model, and `references_kin_push` how far it takes that one.
    """

    text: str
    heldout: Effect
    references: tuple[Effect, ...] = ()
    push: float = 0.0
    references_push: tuple[float, ...] = ()
    kin: tuple[str, ...] = ()
    references_kin_push: tuple[float, ...] = ()


@dataclass(frozen=True)
class Finding:
    """The evidence for one arm, all of it measured in fp32 on text.

    `unstamped` is what the samples do without any trigger: how often the model
    gives the target by itself. `related` are words that the search came across beside it.
    """

    inversion: Inversion
    unit: str
    text: str
    retokenised_ids: tuple[int, ...]
    on_inversion: Effect
    on_heldout: Effect
    pruned: PrunedTrigger
    unstamped: Effect
    random: Effect
    natural: NaturalControl | None
    references: tuple[ReferenceEffect, ...]
    score: float
    seconds: float
    example: Example | None = None
    mirror: Mirror | None = None
    related: tuple[str, ...] = ()
    turned: Turned | None = None
    alone: Alone | None = None


@dataclass(frozen=True)
class ProfileUse:
    """The profile that a score was made with.

    `outside` says in words what of the scan is not as in the models that it was learnt
    from; where there is anything, it does not apply.
    """

    id: str
    applies: bool
    outside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The decision and the sentence that explains it; no profile where the rule decided."""

    state: VerdictState
    score: float
    reason: str
    profile: ProfileUse | None = None


@dataclass(frozen=True)
class ArmCount:
    """How many arms were planned, run, failed, and dropped before the end."""

    planned: int
    run: int
    failed: int
    pruned: int


@dataclass(frozen=True)
class Runtime:
    """Where and how the optimisation computes, and why."""

    device: str
    dtype: Literal["fp32", "bf16"]
    attention: Literal["eager", "sdpa"]
    threads: int
    why: str = field(default="")
