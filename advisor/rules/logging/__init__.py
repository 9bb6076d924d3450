"""Rules about the server's logs."""
