"""The team's way of changing servers: propose, review, approve, apply, verify, keep or roll back."""
