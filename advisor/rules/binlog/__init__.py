"""Rules about the binary log."""
