from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("recommendations", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="recommendation",
            name="dismissed_rank",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
