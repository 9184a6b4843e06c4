"""Arms -> Inversions."""
