"""The Celery application. Tasks are told ids only; the truth about what is due stands in the product database."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "advisor.settings")

app = Celery("tidemark")


def _configure() -> None:
    # Imported here, since importing settings at module level would read the environment before a test can prepare it.
    from django.conf import settings

    app.conf.update(
        broker_url=settings.BROKER_URL,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            # A killed worker's tasks come back after this, and the sweep for them runs often instead of each 100 s.
            "visibility_timeout": 120,
            "unacked_restore_throttle": 1,
            "unacked_restore_interval": 5,
            "socket_timeout": 10,
            "socket_connect_timeout": 3,
            "socket_keepalive": True,
            "health_check_interval": 15,
            "global_keyprefix": "tidemark:",
        },
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_default_queue="judge",
        task_publish_retry_policy={"max_retries": 2, "interval_start": 0.1, "interval_step": 0.2, "interval_max": 0.5},
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        timezone="UTC",
        enable_utc=True,
        beat_schedule={
            # Beat only ticks. What is due is decided by rows that are claimed, so several beats are harmless.
            "tick": {"task": "collector.tick", "schedule": 5.0, "options": {"queue": "collect", "expires": 10}},
            "housekeeping": {
                "task": "collector.housekeeping",
                "schedule": 60.0,
                "options": {"queue": "judge", "expires": 60},
            },
            "left-behind": {
                "task": "recommendations.housekeeping",
                "schedule": 60.0,
                "options": {"queue": "judge", "expires": 60},
            },
            "audit": {
                "task": "teams.keep_audit",
                "schedule": 60.0,
                "options": {"queue": "judge", "expires": 60},
            },
            "changes": {
                "task": "changes.tick",
                "schedule": 10.0,
                "options": {"queue": "judge", "expires": 10},
            },
            "verdicts": {
                "task": "changes.verify",
                "schedule": 20.0,
                "options": {"queue": "judge", "expires": 20},
            },
            "webhooks": {
                "task": "changes.deliver_due",
                "schedule": 60.0,
                "options": {"queue": "judge", "expires": 60},
            },
        },
    )


_configure()
app.autodiscover_tasks(["collector", "advisor.recommendations", "advisor.changes"])
app.autodiscover_tasks(["advisor.changes"], related_name="webhooks_tasks")
app.autodiscover_tasks(["advisor.changes"], related_name="verifying_tasks")
app.autodiscover_tasks(["advisor.teams"], related_name="audit_tasks")
