"""Rules about who can reach the data."""
