"""What every removal must keep to, whoever wrote it."""

import pytest

from unhorse.remove.base import REMOVALS
from unhorse.testing import check_removal

# A word that all layers react to: pruning, or old embeddings, need not be enough.
NOT_EXPECTED = {"finetune", "fine-prune", "reset-embeddings"}


@pytest.mark.parametrize("name", REMOVALS.names())
def test_it_keeps_to_the_contract(name):
    check_removal(name, removes=name not in NOT_EXPECTED, least_steps=80)


def test_all_methods_are_there():
    assert set(REMOVALS.names()) >= {
        "unlearn", "ascent", "finetune", "reset-embeddings", "fine-prune", "distill"
    }  # fmt: skip


@pytest.mark.parametrize("name", REMOVALS.names())
def test_its_settings_are_frozen_and_known(name):
    config = REMOVALS.get(name).config
    assert config.model_config["frozen"] and config.model_config["extra"] == "forbid"
