"""`python -m unhorse` is the command line."""

from unhorse.cli.main import run

run()
