"""model + samples -> Subject."""
