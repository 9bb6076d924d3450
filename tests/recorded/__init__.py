"""Recorded servers and the exact advice that each of them gets.

Each folder holds one recording of a real server (``manage.py record_snapshot``: no secrets, no names) and
``expected.txt``, the advice in text, an outcome a line. A change of a rule shows as a difference of these files,
which is what a reviewer reads.

    python -m tests.recorded rewrite           # judge all recordings again and write what is expected now python -m
    tests.recorded record [NAME...]  # start the servers, put them under the load of each scenario, record them
"""
