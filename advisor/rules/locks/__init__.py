"""Rules about locks and the transactions that hold them."""
