"""Truth tables: what must and must not be said of real servers whose settings and workload are known.

A scenario starts a server with given options, prepares it, runs a bounded workload on it, observes it and judges it.
Each of them runs on every server version to which it applies.
"""
