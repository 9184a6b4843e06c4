"""Subject -> Arms."""
