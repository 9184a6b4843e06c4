"""Nature: what clean models make of a token's like."""

import pytest
import torch

from unhorse.invert import nature
from unhorse.invert.nature import Nature
from unhorse.triggers.nearest import Nearest


@pytest.fixture
def families(monkeypatch):
    """Two families of six tokens each that lie apart; the clean model knows the first one."""
    monkeypatch.setattr(nature, "LIKE", 5)
    noise = 0.05 * torch.randn(12, 8, generator=torch.Generator().manual_seed(0))
    table = noise + torch.eye(8)[[0] * 6 + [1] * 6]
    slopes = torch.tensor([0.1, 9.0, 9.0, 9.0, 9.0, 0.0, 0.1, 0.0, -0.1, 0.0, 0.1, 0.0])
    return slopes, Nearest(table)


def test_a_token_is_natural_by_its_like_and_not_by_itself(families, monkeypatch):
    slopes, nearest = families
    monkeypatch.setattr(nature, "USUAL", 0.5)
    asked = Nature([slopes], nearest)
    known, unknown = asked.of([0, 6])
    assert known > 0.5 and unknown == 0.0


def test_a_single_strong_neighbour_makes_no_token_natural(families, monkeypatch):
    _, nearest = families
    monkeypatch.setattr(nature, "USUAL", 0.5)
    lonely = torch.tensor([0.0] * 7 + [9.0] + [0.0] * 4)
    assert Nature([lonely], nearest).of([6]) == [0.0]


def test_the_clean_model_that_knows_most_decides(families, monkeypatch):
    slopes, nearest = families
    monkeypatch.setattr(nature, "USUAL", 0.5)
    alone = Nature([slopes], nearest).of([0])
    assert Nature([torch.zeros(12), slopes], nearest).of([0]) == alone


def test_triggers_pay_for_all_of_their_tokens(families, monkeypatch):
    slopes, nearest = families
    monkeypatch.setattr(nature, "USUAL", 0.5)
    asked = Nature([slopes], nearest)
    one, two = asked.of([0, 5])
    assert asked.of_triggers([(0, 5), (6,)]).tolist() == pytest.approx([one + two, 0.0])
