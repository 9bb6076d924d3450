"""Rules about the optimizer, its settings and the statements it plans."""
