from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """What Tidemark notes of itself."""

    dependencies = [("collector", "0003_full_tier_counters")]

    operations = [
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("name", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("at", models.FloatField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="UpkeepSample",
            fields=[
                ("hour_at", models.BigIntegerField(primary_key=True, serialize=False)),
                ("servers", models.PositiveIntegerField(default=0)),
                ("database_bytes", models.BigIntegerField(blank=True, null=True)),
                ("late_p50_seconds", models.FloatField(blank=True, null=True)),
                ("late_p99_seconds", models.FloatField(blank=True, null=True)),
            ],
        ),
    ]
