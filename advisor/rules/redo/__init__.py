"""Rules about the redo log."""
