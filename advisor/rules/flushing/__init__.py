"""Rules about writing dirty pages."""
