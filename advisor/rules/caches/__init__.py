"""Rules about the caches of tables, files and hosts."""
