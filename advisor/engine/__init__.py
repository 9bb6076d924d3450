"""How judging works: facts in, outcomes out. Pure: no Django, clock, network or database in here."""
