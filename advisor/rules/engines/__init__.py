"""Rules about storage engines and their statistics."""
