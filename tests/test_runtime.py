"""Precision and attention are chosen by what the processor can do."""

import pytest
import torch

import unhorse
from unhorse.errors import UsageError
from unhorse.runtime import choose_runtime, is_out_of_memory


@pytest.mark.parametrize(
    ("amx", "dtype", "attention"), [(True, "bf16", "eager"), (False, "fp32", "sdpa")]
)
def test_bf16_only_with_matrix_units(monkeypatch, amx, dtype, attention):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": amx}, raising=False)
    runtime = choose_runtime("cpu")
    assert (runtime.dtype, runtime.attention) == (dtype, attention)
    assert "matrix units" in runtime.why


def test_a_torch_that_cannot_tell_gets_fp32(monkeypatch):
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert choose_runtime("cpu").dtype == "fp32"


def test_the_choice_can_be_overridden():
    runtime = choose_runtime("cpu", "bf16")
    assert (runtime.dtype, runtime.attention, runtime.why) == ("bf16", "eager", "asked for")


def test_unknown_device():
    with pytest.raises(UsageError, match="abacus"):
        choose_runtime("abacus")


def test_optimising_in_bf16_leaves_the_evidence_in_fp32(planted):
    report = unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        dtype="bf16",
        options={"epochs": 6, "trigger_length": 2},
        positions=("end",),
        preset="paper",
    )
    assert (report.dtype, report.attention) == ("bf16", "eager")
    again = unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        options={"epochs": 6, "trigger_length": 2},
        positions=("end",),
        preset="paper",
    )
    # The same text has the same evidence, whatever the optimiser computed in.
    texts = {f.text: f.heldout for f in report.findings}
    for finding in again.findings:
        if finding.text in texts:
            assert finding.heldout == texts[finding.text]
    assert report.curves[0].loss == pytest.approx(again.curves[0].loss, rel=0.2)


def test_what_counts_as_out_of_memory():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("CUDA out of memory. Tried to allocate"))
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
