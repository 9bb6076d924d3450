"""Rules about what statements do, by the server's counters."""
