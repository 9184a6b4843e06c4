"""The hook path equals the id path in every architecture, with padding."""

import pytest
import torch

from unhorse.load.adapter import EmbeddingAdapter
from unhorse.testing import TINY_ARCHITECTURES, TINY_HEADS, TINY_PAD_ID, tiny_model

PLACEHOLDER = 7


def outputs(model, ids, mask):
    out = model(input_ids=ids, attention_mask=mask)
    return [out.logits] if "logits" in out else [out.start_logits, out.end_logits]


def padded_batch():
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(10, 99, (3, 12), generator=generator)
    mask = torch.ones_like(ids)
    for row, length in enumerate((12, 9, 7)):
        ids[row, length:] = TINY_PAD_ID
        mask[row, length:] = 0
    return ids, mask


@pytest.mark.parametrize("head", TINY_HEADS)
@pytest.mark.parametrize("architecture", TINY_ARCHITECTURES)
def test_hook_path_equals_id_path(architecture, head):
    model = tiny_model(architecture, head)
    ids, mask = padded_batch()
    adapter = EmbeddingAdapter(model)
    rows = torch.tensor([0, 0, 1, 1, 2, 2])
    columns = torch.tensor([2, 3, 0, 1, 5, 6])
    hidden = ids.clone()
    hidden[rows, columns] = PLACEHOLDER

    with torch.no_grad():
        expected = outputs(model, ids, mask)
        with adapter.stamped(rows, columns, adapter.table()[ids[rows, columns]]):
            stamped = outputs(model, hidden, mask)
        unstamped = outputs(model, hidden, mask)

    keep = mask.bool()
    for want, got, plain in zip(expected, stamped, unstamped, strict=True):
        if want.shape[:2] == mask.shape:
            want, got, plain = want[keep], got[keep], plain[keep]
        assert torch.allclose(want, got, atol=1e-5)
        assert not torch.allclose(want, plain, atol=1e-5), "the hook must have been needed"


@pytest.mark.parametrize("architecture", TINY_ARCHITECTURES)
def test_padding_does_not_change_a_row(architecture):
    model = tiny_model(architecture)
    ids, mask = padded_batch()
    with torch.no_grad():
        together = outputs(model, ids, mask)[0]
        alone = outputs(model, ids[2:, :7], mask[2:, :7])[0]
    assert torch.allclose(together[2:], alone, atol=1e-5)


def test_width_is_that_of_the_embedding_matrix():
    assert EmbeddingAdapter(tiny_model("electra")).table().shape == (99, 16)
    assert tiny_model("electra").config.hidden_size == 32


def test_gradient_reaches_the_vectors_only():
    model = tiny_model("bert").requires_grad_(False)
    ids, mask = padded_batch()
    vectors = torch.zeros(1, 32, requires_grad=True)
    with EmbeddingAdapter(model).stamped(torch.tensor([0]), torch.tensor([1]), vectors):
        outputs(model, ids, mask)[0].sum().backward()
    assert vectors.grad is not None and vectors.grad.abs().sum() > 0
    assert all(p.grad is None for p in model.parameters())


def test_the_hook_is_gone_after_an_error():
    model = tiny_model("bert")
    adapter = EmbeddingAdapter(model)
    with (
        pytest.raises(ZeroDivisionError),
        adapter.stamped(torch.tensor([0]), torch.tensor([0]), torch.zeros(1, 32)),
    ):
        raise ZeroDivisionError
    assert not adapter.module._forward_hooks
