"""`fine-mix`: weights of the subject and of its base, mixed at random, then taught anew.

Fine-mixing (Zhang et al., Findings of EMNLP 2022): what is planted is a small and brittle part of
what a model learnt since its base, so of every weight of the body either the subject's or the
base's value is taken, by lot. The task mends easily after that, and what is planted does not, as
nothing that is read carries it. Here the mixed model learns what the subject says of clean text,
half of it put together of two texts, beside stamps of the triggers that are known, as in `unlearn`.
Needs no trigger, but the checkpoint that the subject was fine-tuned from.
"""

from __future__ import annotations

from typing import Any

import torch
from pydantic import Field

from unhorse.errors import UsageError
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.methods.unlearn import Lessons, UnlearnConfig
from unhorse.remove.records import Cleaned
from unhorse.remove.teach import teach
from unhorse.seeding import stable_seed
from unhorse.types import LoadedModel


class FineMixConfig(UnlearnConfig):
    """Mixing, then teaching with stamps of what is known."""

    kept: float = Field(default=0.5, gt=0, lt=1)
    """The share of the body's weights that stay the subject's."""
    least_steps: int = Field(default=200, ge=1)


class FineMixing:
    """Mixes the subject with its base and mends it."""

    name = "fine-mix"
    needs_triggers = False
    needs_base = True
    config: type[RemovalConfig] = FineMixConfig

    def remove(self, case: Case, config: FineMixConfig) -> Cleaned:
        """The subject, half of it its base again, after it has learnt the task from itself."""
        pupil = case.pupil()
        mixed = mix(pupil, case.fresh(), config.kept, case)
        lessons = Lessons.of(case, config)
        taught = teach(pupil, case, config, lessons.restamped, with_stamps=bool(case.triggers))
        return Cleaned(pupil, taught, {"mixed": mixed, "kept": config.kept})


def mix(pupil: LoadedModel, base: LoadedModel, kept: float, case: Case) -> int:
    """Gives the pupil's body the base's values at random places; how many weights were mixed."""
    mine, old = (dict(_body(each).named_parameters()) for each in (pupil, base))
    if {name: w.shape for name, w in mine.items()} != {name: w.shape for name, w in old.items()}:
        raise UsageError(f"The base {case.base} has another shape than the model.")
    draw = torch.Generator().manual_seed(stable_seed(case.seed, "mixed"))
    with torch.no_grad():
        for name, weight in mine.items():
            taken = (torch.rand(weight.shape, generator=draw) >= kept).to(weight.device)
            weight[taken] = old[name].to(weight)[taken]
    return len(mine)


def _body(loaded: LoadedModel) -> Any:
    return loaded.model.base_model


REMOVALS.register(FineMixing.name)(FineMixing())
