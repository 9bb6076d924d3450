"""How a team changes its servers: proposed, reviewed, applied, verified, kept or rolled back."""
