"""The engine: batching, gradients, memory and independence of arms."""

import pytest
import torch

from unhorse.arms.schedule import POLICIES
from unhorse.errors import OutOfMemory
from unhorse.invert.base import Problem
from unhorse.invert.engine import ModelLoss
from unhorse.invert.methods.dbs import PAPER
from unhorse.invert.objective import Objective
from unhorse.invert.run import SilentProgress, invert_arms
from unhorse.speed import random_model, random_rows
from unhorse.tasks.base import TASKS, partition
from unhorse.testing import planted_problem
from unhorse.types import Arm

SMALL = {
    "vocab_size": 30522,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}


@pytest.fixture(scope="module")
def loaded():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return random_model(**SMALL)


def loss_of(loaded, rows, **changes):
    task = TASKS.get("sequence-classification")
    return ModelLoss(loaded, task, rows, torch.arange(1000, 3000), **changes)


def test_gradient_equals_plain_autograd(loaded):
    rows = random_rows(2, 5, 3)
    loss = loss_of(loaded, rows)
    w = torch.randn(2, 3, 2000, requires_grad=True)
    loss(w.softmax(-1)).loss.sum().backward()
    chunked, w.grad = w.grad, None

    vectors = w.softmax(-1) @ loss.table
    total = sum(loss.run_bucket(bucket, vectors)[0].sum() / 5 for bucket in loss.buckets())
    total.backward()
    assert torch.allclose(chunked, w.grad, atol=1e-7)
    assert all(p.grad is None for p in loaded.model.parameters())


def test_some_arms_give_the_losses_that_they_have_among_all(loaded):
    loss = loss_of(loaded, random_rows(3, 4, 3))
    w = torch.randn(3, 3, 2000).softmax(-1)
    everyone = loss(w).loss
    assert torch.allclose(loss(w[[2, 0]], [2, 0]).loss, everyone[[2, 0]], atol=1e-5)
    assert torch.allclose(loss(w[1:2], [1]).loss, everyone[1:2], atol=1e-5)


def test_the_bucket_size_does_not_change_the_losses(loaded):
    rows = random_rows(3, 8, 4)
    mixtures = torch.randn(3, 4, 2000).softmax(-1)
    wide, narrow = loss_of(loaded, rows), loss_of(loaded, rows, most_tokens=64)
    assert len(narrow.buckets()) > len(wide.buckets())
    assert torch.allclose(wide(mixtures).loss, narrow(mixtures).loss, atol=1e-5)


def test_hard_tokens_equal_one_hot_mixtures(loaded):
    loss = loss_of(loaded, random_rows(2, 4, 3))
    choices = torch.tensor([[5, 9, 1], [7, 7, 1999]])
    one_hot = torch.nn.functional.one_hot(choices, 2000).float()
    assert torch.allclose(loss.of_tokens(choices).loss, loss(one_hot).loss, atol=1e-5)


def arms(count):
    return tuple(Arm((0,), 1, "start", f"victim{i}", "target") for i in range(count))


def test_an_arm_is_the_same_alone_and_in_company(loaded):
    rows = random_rows(4, 20, 10)
    # A bound that is never reached makes noise at every check.
    config = PAPER.model_copy(update={"epochs": 20, "bound": 1e-9})

    def run(chosen):
        objective = Objective(loss_of(loaded, [rows[i] for i in chosen]))
        named = tuple(arms(4)[i] for i in chosen)
        problem = Problem(named, objective, torch.arange(1000, 3000), seed=0)
        return invert_arms(problem, "dbs", config, POLICIES.get("all"), SilentProgress()).found

    together = {i.arm.key: i.curve.loss for i in run([0, 1, 2, 3])}
    for inversion in [*run([2]), *run([3, 0])]:
        assert inversion.curve.loss == pytest.approx(together[inversion.arm.key], abs=1e-4)
    assert len({losses[-1] for losses in together.values()}) == 4


def test_smaller_passes_are_tried_when_memory_ends(loaded):
    loss = loss_of(loaded, random_rows(2, 10, 3))
    expected = loss(torch.full((2, 3, 2000), 1 / 2000)).loss
    original, sizes = ModelLoss.run_bucket, []

    def tight(self, bucket, vectors):
        sizes.append(bucket.tokens)
        if bucket.tokens > 200:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes")
        return original(self, bucket, vectors)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelLoss, "run_bucket", tight)
        measured = loss(torch.full((2, 3, 2000), 1 / 2000)).loss
    assert max(sizes) > 200 >= sizes[-1]
    assert torch.allclose(expected, measured, atol=1e-5)


def test_no_room_for_one_row_is_an_error_of_its_own(loaded):
    loss = loss_of(loaded, random_rows(1, 2, 3))

    def full(self, bucket, vectors):
        raise MemoryError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelLoss, "run_bucket", full)
        with pytest.raises(OutOfMemory):
            loss(torch.full((1, 3, 2000), 1 / 2000))


def test_other_errors_are_not_mistaken_for_memory(loaded):
    loss = loss_of(loaded, random_rows(1, 2, 3))

    def broken(self, bucket, vectors):
        raise RuntimeError("shapes do not match")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelLoss, "run_bucket", broken)
        with pytest.raises(RuntimeError, match="shapes"):
            loss(torch.full((1, 3, 2000), 1 / 2000))


def test_partition_respects_the_limit_and_loses_nobody():
    lengths = [5, 90, 7, 33, 12, 12, 60, 8]
    groups = partition(lengths, most_tokens=100)
    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    assert all(len(g) * max(lengths[i] for i in g) <= 100 for g in groups)


def test_a_reference_pays_for_leaving_the_true_label():
    subject, reference = planted_problem(17), planted_problem(40)
    objective = Objective(subject.objective.subject, [reference.objective.subject])
    uniform = torch.full((2, 3, 57), 1 / 57)
    assert objective(uniform).penalty.tolist() == [0.0, 0.0]
    # Token 40, at place 37 of the allowed ones, is the one that the reference obeys.
    moved = torch.zeros(2, 3, 57)
    moved[:, :, 37] = 1
    reference.objective.subject.task = _Opposite()
    held = Objective(subject.objective.subject, [reference.objective.subject])
    assert held(uniform).penalty.tolist() == [0.0, 0.0]
    moved.requires_grad_()
    penalty = held(moved).penalty
    assert (penalty > 1).all()
    penalty.sum().backward()
    assert moved.grad.abs().sum() > 0


class _Opposite:
    """A task whose goal is label 0: the true label of the planted problem's rows."""

    def losses(self, outputs, goals):
        return TASKS.get("sequence-classification").losses(outputs, torch.zeros_like(goals))

    def collate(self, goals, device):
        return torch.tensor(goals)


def test_passes_are_counted():
    loss = planted_problem().objective.subject
    w = torch.zeros(2, 3, 57, requires_grad=True)
    loss(w.softmax(-1)).loss.sum().backward()
    tokens = sum(bucket.tokens for bucket in loss.buckets())
    assert (loss.count.forward_tokens, loss.count.backward_tokens) == (tokens, tokens)
    loss.of_tokens(torch.zeros(2, 3, dtype=torch.long))
    assert (loss.count.forward_tokens, loss.count.backward_tokens) == (2 * tokens, tokens)
