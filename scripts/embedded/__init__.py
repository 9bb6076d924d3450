"""Tidemark on one machine: what `./start` sets up, runs, watches and ends."""
