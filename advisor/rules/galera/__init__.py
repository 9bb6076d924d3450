"""Rules about nodes of a Galera cluster."""
