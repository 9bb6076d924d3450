"""Rules about connections and threads."""
