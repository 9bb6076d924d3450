"""Rules about surviving a crash."""
