"""Views of change requests, policies and notices."""
