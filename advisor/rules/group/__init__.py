"""Rules about members of a MySQL replication group."""
