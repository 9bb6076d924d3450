"""Pages of change requests, policies and notices."""
