"""Small models of every architecture and task, clean or backdoored, trained in seconds."""
