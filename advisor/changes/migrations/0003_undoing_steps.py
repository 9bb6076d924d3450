from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("changes", "0002_webhooks")]

    operations = [
        migrations.AddField(
            model_name="step",
            name="undoes",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
