"""Rules about replicas and their sources."""
