"""A suite and methods -> one result file per scan, and tables made from those files."""
