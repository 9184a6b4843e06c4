"""One file per method: Problem -> Inversions."""
