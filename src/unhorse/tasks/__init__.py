"""what a victim, a target, a flip and a loss are."""
