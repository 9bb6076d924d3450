"""What a service answers instead of doing what was asked: it did nothing at all, and says why."""

from __future__ import annotations

from advisor.changes.said import Said
from advisor.changes.said import said as _made


class Refused(Exception):
    """``message`` says why, as a stored message; ``code`` is what the API's problem is called."""

    code = "refused"

    def __init__(self, message: Said) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        """In the language of whoever reads it now."""
        from advisor.ui.messages import text_of

        return text_of(self.message)


class OwnChange(Refused):
    """Who wrote or edited a change may not approve it."""

    code = "own-change"

    def __init__(self) -> None:
        super().__init__(_made("You wrote or edited this change: another person has to approve it."))


class StalePlan(Refused):
    """What was reviewed is not the present plan, or that does not hold any more; the message says which."""

    code = "stale-plan"

    @classmethod
    def another(cls) -> StalePlan:
        return cls(_made("This is not the present plan: load it again, and look at what changed."))

    @classmethod
    def over(cls) -> StalePlan:
        return cls(_made("The plan does not hold any more: it has to be submitted again."))

    @classmethod
    def altered(cls) -> StalePlan:
        return cls(_made("The stored plan was altered: it does not have its hash."))
