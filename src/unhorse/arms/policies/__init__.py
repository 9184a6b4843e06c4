"""The policies of arm scheduling, one file each."""
