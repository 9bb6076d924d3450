"""The facts that rules may ask for, each a frozen dataclass that is complete or raises Missing with its remedy."""
