"""unhorse finds and removes backdoors in NLP transformer models.

>>> import unhorse
>>> unhorse.ScanReport.__name__
'ScanReport'
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from unhorse.errors import ModelRefused, UnhorseError, UsageError

if TYPE_CHECKING:
    from unhorse.config import ScanConfig
    from unhorse.remove.config import RemoveConfig
    from unhorse.remove.run import remove_backdoor
    from unhorse.report.removal import RemovalReport
    from unhorse.report.schema import ScanReport
    from unhorse.scanner import scan

__version__ = version("unhorse")
__all__ = [
    "ModelRefused",
    "RemovalReport",
    "RemoveConfig",
    "ScanConfig",
    "ScanReport",
    "UnhorseError",
    "UsageError",
    "remove_backdoor",
    "scan",
]

_LAZY = {
    "scan": "unhorse.scanner",
    "remove_backdoor": "unhorse.remove.run",
    "RemovalReport": "unhorse.report.removal",
    "RemoveConfig": "unhorse.remove.config",
    "ScanReport": "unhorse.report.schema",
    "ScanConfig": "unhorse.config",
}


def __getattr__(name: str) -> Any:
    # torch takes seconds to import; commands such as --help should not wait for it.
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'unhorse' has no attribute {name!r}")
