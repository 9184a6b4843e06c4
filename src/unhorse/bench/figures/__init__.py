"""Results and models -> data files of figures; data files -> pictures."""
