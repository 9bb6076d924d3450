"""Rules about what can be seen of a server."""
