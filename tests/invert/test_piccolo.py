"""PICCOLO: the public contract, and its steps on numbers that can be checked by hand."""

from unhorse.invert.methods.piccolo import (
    PiccoloConfig,
)
from unhorse.testing import check_method

SMALL = PiccoloConfig(trigger_length=3)


def test_contract():
    check_method("piccolo", epochs=40)
