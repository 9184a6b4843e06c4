"""a trigger: where it is stamped and which tokens it may use."""
