"""Model folders, sample files and unhorse's own texts."""
