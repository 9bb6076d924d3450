"""The web process's entry."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")

application = get_wsgi_application()

# A task that a page publishes must know our broker: without the application Celery would look for one of its own.
import advisor.celery  # noqa: E402, F401
