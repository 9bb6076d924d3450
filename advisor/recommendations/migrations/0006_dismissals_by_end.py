from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("recommendations", "0005_fleet_texts")]

    operations = [
        migrations.AddIndex(
            model_name="recommendation",
            index=models.Index(fields=["state", "dismissed_until"], name="dismissals_by_end"),
        ),
    ]
