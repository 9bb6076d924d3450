"""Rules about tables and indexes."""
