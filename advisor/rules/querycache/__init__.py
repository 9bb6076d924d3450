"""Rules about the query cache of MySQL 5.7 and MariaDB."""
