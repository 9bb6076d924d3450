from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("recommendations", "0004_fleet_at_ten_thousand")]

    operations = [
        migrations.AddIndex(
            model_name="fleetrow",
            index=models.Index(fields=["team", "state", "flavor", "group", "words", "server"], name="fleet_texts"),
        ),
        migrations.RemoveIndex(model_name="fleetrow", name="fleet_words"),
    ]
