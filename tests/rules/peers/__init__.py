"""Faults of other advisors, replayed: on the same facts our advice is right."""
