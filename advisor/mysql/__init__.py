"""What is known of the servers of the MySQL family. Pure: no Django, clock, network or database in here."""
