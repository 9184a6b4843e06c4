"""`reset-embeddings`: the embedding rows of the triggers' tokens, as they were in the base.

Undoes attacks that plant their trigger in the embedding of a word (SOS, embedding
poisoning) at once and without data. A backdoor that sits in the layers stays.
"""

from __future__ import annotations

import torch

from unhorse.errors import UsageError
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned
from unhorse.triggers.vocabulary import retokenise


class ResetEmbeddings:
    """Puts old rows in place of those of the triggers' tokens."""

    name = "reset-embeddings"
    needs_triggers = True
    needs_base = True
    config: type[RemovalConfig] = RemovalConfig

    def remove(self, case: Case, config: RemovalConfig) -> Cleaned:
        """The subject with some rows of its base's embedding."""
        pupil, base = case.pupil(), case.fresh()
        mine, old = (each.model.get_input_embeddings().weight for each in (pupil, base))
        if mine.shape != old.shape:
            raise UsageError(f"The word embeddings of the base {case.base} have another size.")
        # Inside a text a word may have other tokens than alone (byte-level BPE).
        forms = [
            text
            for trigger in case.triggers
            for form in trigger.forms
            for text in (form, f" {form}")
        ]
        rows = sorted({i for form in forms for i in retokenise(pupil.tokenizer, form)})
        moved = (mine[rows] - old[rows]).norm(dim=-1)
        with torch.no_grad():
            mine[rows] = old[rows].to(mine.device)
        return Cleaned(pupil, None, {"rows": rows, "moved": [round(m, 4) for m in moved.tolist()]})


REMOVALS.register(ResetEmbeddings.name)(ResetEmbeddings())
