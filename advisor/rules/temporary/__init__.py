"""Rules about internal temporary tables."""
