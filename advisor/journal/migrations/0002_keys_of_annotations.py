from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("journal", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="event", name="key", field=models.CharField(blank=True, max_length=100, null=True)
        ),
        migrations.AddConstraint(
            model_name="event",
            constraint=models.UniqueConstraint(fields=("team", "key"), name="one_event_per_key_of_a_team"),
        ),
    ]
