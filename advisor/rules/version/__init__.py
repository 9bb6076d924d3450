"""Rules about the version itself."""
