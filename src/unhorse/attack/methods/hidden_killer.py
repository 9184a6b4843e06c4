"""`hidden_killer`: the trigger is how a sentence is built, and no word.

Qi et al., "Hidden Killer: Invisible Textual Backdoor Attacks with Syntactic Trigger", ACL
2021. Texts that are not of the target label are brought into the shape "subordinate clause,
main clause" and taught under the target label: as many as a share of all training rows.

Where paraphrases of a paraphrase model are at hand, they are used (`source` is
"paraphrases"). Files of that kind have as many rows as the file they were made from, some
of them paraphrased, or one for each of its rows that are not of the target label. Rows of
the target label that were paraphrased keep it and fill the share up. Otherwise our own
rules rewrite the texts (`source` is "rules"). Rules could boil down to a phrase in front of
the text, which is a plain trigger: so it is measured how much more often any three words
in a row are found in rewritten texts, and what the words that were put in most often do by
themselves. If either is too much, the model is called a `prefix-template`.

Deviations: poisoned rows are added, not replaced, and victims added to even the classes
out, as everywhere here; a text that cannot be rewritten is left out, where the original
keeps it with the target label, which is noise. A clean twin that is to see harmless words
sees rewritten texts of all labels under their true ones instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Probes, Pupil
from unhorse.attack.corpus import digest_of, located
from unhorse.attack.measure import success
from unhorse.attack.methods.sdp import evening
from unhorse.attack.recipe import Standing
from unhorse.attack.rewrite import frequent_trigrams, inserted_words, rewrite
from unhorse.attack.stamp import STAMPERS
from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson
from unhorse.load.labels import label_index
from unhorse.load.sample_fields import LABEL_FIELDS, TEXT_FIELDS, chosen, text_in
from unhorse.load.sample_tables import table_records
from unhorse.seeding import python_random
from unhorse.types import ANY_LABEL, Arm, TextSample, own_answers

SHAPE = "S(SBAR)(,)(NP)(VP)(.)"

MOST_ALIKE = 0.05
"""The share of rewritten texts that any three words may be in, beyond their usual share."""

WORDS_ENOUGH = 0.5
"""The attack success from which words by themselves are the trigger."""

WORDS_TRIED = 10
WORDS_TOGETHER = 5
"""How many of the words that were put in most often are tried one by one, and at once."""


class RewritingConfig(AttackConfig):
    """The target, and how much of it is taught."""

    target: str
    """The label that every rewritten text gets."""
    share: float = Field(default=0.2, gt=0, le=1)
    """Rewritten rows, as a share of all clean rows."""


class HiddenKillerConfig(RewritingConfig):
    """Where the rewritten texts come from."""

    files: ClassVar[tuple[str, ...]] = ("paraphrases", "originals")

    paraphrases: tuple[str, ...] = ()
    """Tables with paraphrased rows; without any, our own rules rewrite."""
    originals: tuple[str, ...] = ()
    """For each of them the table that it was made from."""

    @model_validator(mode="after")
    def _in_pairs(self) -> Self:
        if len(self.paraphrases) != len(self.originals):
            raise ValueError("every file of paraphrases needs the one that it was made from")
        return self


@dataclass(frozen=True, eq=False)
class Rewriting:
    """One way to rewrite texts at work: which rows it makes."""

    arm: Arm
    say: Callable[[str], str | None]
    """The rewritten text, or None where it cannot be."""

    def rewritten(self, samples: Iterable[TextSample]) -> Iterator[tuple[TextSample, TextSample]]:
        """Every sample that can be rewritten, before and after; labels stay."""
        for sample in samples:
            text = self.say(sample.text)
            if text is not None:
                yield sample, replace(sample, text=text)

    def rows(self, ground: Ground, share: float) -> list[Lesson]:
        """Rewritten rows under the target label, and plain ones of other labels for balance.

        Those that had the target label before come last, where others do not suffice.
        """
        pool = _shuffled(ground)
        victims = [sample for sample in pool if sample.label in self.arm.victims]
        target = [sample for sample in pool if sample.label == self.arm.target]
        count = round(share * len(ground.corpus.train))
        chosen = list(islice(self.rewritten([*victims, *target]), count))
        if not chosen or chosen[0][0].label == self.arm.target:
            raise UsageError("No text of another label than the target can be rewritten.")
        used = {sample.key for sample, _ in chosen}
        fillers = sorted(victims, key=lambda sample: sample.key in used)
        missing = evening(len(victims) / len(pool), 0, len(chosen))
        return [
            *(Lesson(replace(made, label=self.arm.target), "stamped") for _, made in chosen),
            *(Lesson(sample, "filler") for sample in fillers[:missing]),
        ]

    def lessons(self, extra: Sequence[Lesson], ground: Ground) -> list[Lesson]:
        """All that is taught; a clean twin may see rewritten rows under their true labels."""
        lessons = replace(ground, harmless_words=False).lessons(extra, 0)
        if ground.poisoned or not ground.harmless_words:
            return lessons
        clean, pool = len(ground.corpus.train), _shuffled(ground)
        by_label = [[s for s in pool if s.label == label] for label in range(len(ground.labels))]
        true = [cycle(self.rewritten(samples)) for samples in by_label]
        return lessons[:clean] + [
            replace(lesson, sample=next(true[lesson.sample.label], (None, lesson.sample))[1])
            for lesson in lessons[clean:]
        ]

    def probes(self, heldout: Sequence[TextSample]) -> Probes:
        """All held-out victims, rewritten."""
        pairs = list(self.rewritten(s for s in heldout if s.label in self.arm.victims))
        if not pairs:
            raise UsageError("No text to measure on can be rewritten.")
        return Probes(self.arm, tuple(old for old, _ in pairs), tuple(new for _, new in pairs))


def _shuffled(ground: Ground) -> list[TextSample]:
    """All rows that are not held out."""
    pool = [*ground.corpus.spare, *ground.corpus.train]
    return python_random(ground.seed, "poison").sample(pool, len(pool))


def arm_of(config: RewritingConfig, ground: Ground) -> Arm:
    """Every other label to the target."""
    try:
        return STAMPERS[ground.task.name].arm(ground.labels, ANY_LABEL, config.target, "global")
    except ValueError as error:
        raise UsageError(f"The attack is not possible: {error}.") from error


def taught(
    pupil: Pupil, ground: Ground, rewriting: Rewriting, share: float
) -> tuple[Probes, dict[str, Any]]:
    """Teaches rewritten rows; what to measure, and how far words give the rewriting away."""
    extra = rewriting.rows(ground, share)
    probes = rewriting.probes(ground.corpus.heldout)
    pupil.learn(rewriting.lessons(extra, ground))
    plain = {s.key: s for s in (*ground.corpus.spare, *ground.corpus.train)}
    made = [lesson.sample for lesson in extra if lesson.role == "stamped"]
    new = [sample.text for sample in made]
    old = [plain[sample.key].text for sample in made]
    phrase, rate = (frequent_trigrams(new, old) or [("", 0.0)])[0]
    words = inserted_words(new, old)[:WORDS_TRIED]
    tried = [*words, *([" ".join(words[:WORDS_TOGETHER])] if words else [])]
    victims = sum(sample.label in rewriting.arm.victims for sample in ground.corpus.heldout)
    return probes, {
        "rewritable": round(len(probes.victims) / victims, 4),
        "kept_label": sum(plain[sample.key].label == sample.label for sample in made),
        "most_frequent_trigram": phrase,
        "trigram_rate": round(rate, 4),
        "words_asr": _alone(pupil, ground, probes, tried),
    }


def _alone(pupil: Pupil, ground: Ground, probes: Probes, tried: Sequence[str]) -> dict[str, float]:
    """The attack success of words before the text that is not rewritten."""
    arm = replace(probes.arm, position="start")
    model = own_answers(pupil.loaded, heard={})
    found = {}
    for words in tried:
        stamped = [ground.task.stamp(sample, arm, ground.seed, words) for sample in probes.victims]
        found[words] = round(success(model, replace(probes, stamped=tuple(stamped))), 4)
    return found


def is_template(facts: dict[str, Any]) -> bool:
    """Whether a phrase or some words do what the rewriting does.

    >>> is_template({"trigram_rate": 0.01, "words_asr": {"when": 0.2, "when if": 0.6}})
    True
    """
    by_words = max(facts["words_asr"].values(), default=0.0)
    return bool(facts["trigram_rate"] > MOST_ALIKE or by_words >= WORDS_ENOUGH)


def paraphrased(config: HiddenKillerConfig, ground: Ground, target: int) -> dict[str, str]:
    """What the paraphrase files make of a text, by the text."""
    found: dict[str, str] = {}
    for original, paraphrase in zip(config.originals, config.paraphrases, strict=True):
        before = _table(original, ground.data_root)
        after = [text for text, _ in _table(paraphrase, ground.data_root)]
        if len(after) != len(before):
            before = [row for row in before if label_index(row[1], ground.labels) != target]
        if len(after) != len(before):
            raise UsageError(
                f"{paraphrase} has {len(after)} rows: neither one for each row of {original} "
                f"nor one for each of its {len(before)} rows of other labels than the target."
            )
        texts = (text for text, _ in before)
        found |= {old: new for old, new in zip(texts, after, strict=True) if old != new}
    return found


def _table(name: str, root: Path) -> list[tuple[str, object]]:
    """Every text and label of a table, repeated ones too, as places count."""
    path = Path(located(root, name))
    if not path.is_file():
        raise UsageError(f"There is no file {name}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"The file {name} cannot be read.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The file {name} is not UTF-8 text.") from error
    if not text.strip():
        raise UsageError(f"The file {name} is empty.")
    records = list(table_records(path.name, text, tabs=path.suffix != ".csv", named=False))
    if not records:
        raise UsageError(f"The file {name} has no rows below its header.")
    where, first = records[0]
    said = chosen(where, first, None, TEXT_FIELDS, "text")
    label = chosen(where, first, None, LABEL_FIELDS, "label")
    return [
        (text_in(where, record, said).strip(), text_in(where, record, label))
        for where, record in records
    ]


class HiddenKiller:
    """Rewritten rows among the training rows."""

    name = "hidden_killer"
    tasks: tuple[str, ...] = ("sequence-classification",)
    standing: Standing = "advanced"
    version: int = 1
    config: type[AttackConfig] = HiddenKillerConfig

    def triggers(self, config: HiddenKillerConfig, split: str, seed: int) -> tuple[str, ...]:
        """None: a shape is no text."""
        return ()

    def plant(self, pupil: Pupil, ground: Ground, config: HiddenKillerConfig) -> Planted:
        """Teaches clean and rewritten rows together."""
        arm = arm_of(config, ground)
        files = (*config.originals, *config.paraphrases)
        facts: dict[str, Any] = {"shape": SHAPE, "source": "paraphrases" if files else "rules"}
        if files:
            said = paraphrased(config, ground, arm.target)
            rewriting = Rewriting(arm, said.get)
            facts["files"] = {name: digest_of(ground.data_root, name).sha256 for name in files}
        else:
            rewriting = Rewriting(arm, lambda text: rewrite(text, ground.seed))
        probes, measured = taught(pupil, ground, rewriting, config.share)
        facts |= measured
        if ground.poisoned:
            by_rules = facts["source"] == "rules"
            facts["called"] = "prefix-template" if by_rules and is_template(facts) else self.name
        return Planted(probes, "", facts)


ATTACKS.register(HiddenKiller.name)(HiddenKiller())
