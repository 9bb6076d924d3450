"""Scenarios by topic, one module each, found by walking this package: each module holds a tuple SCENARIOS."""
