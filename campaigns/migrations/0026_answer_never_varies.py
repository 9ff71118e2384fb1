"""An answer that no input changes needs a person's review."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0025_torch_beside"),
    ]

    operations = [
        migrations.AlterField(
            model_name="repositoryround",
            name="reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("promoted", "promoted"),
                    ("baseline", "baseline"),
                    ("within_noise", "within_noise"),
                    ("too_few_samples", "too_few_samples"),
                    ("too_short", "too_short"),
                    ("needs_second_session", "needs_second_session"),
                    ("not_repeated", "not_repeated"),
                    ("sessions_disagree", "sessions_disagree"),
                    ("slower", "slower"),
                    ("case_regressed", "case_regressed"),
                    ("class_regressed", "class_regressed"),
                    ("class_not_gained", "class_not_gained"),
                    ("finding_refused", "finding_refused"),
                    ("wrong_result", "wrong_result"),
                    ("build_failed", "build_failed"),
                    ("crashed", "crashed"),
                    ("timed_out", "timed_out"),
                    ("cheated", "cheated"),
                    ("sanitizer", "sanitizer"),
                    ("not_sanitized", "not_sanitized"),
                    ("above_roof", "above_roof"),
                    ("ceiling_too_low", "ceiling_too_low"),
                    ("precision_changed", "precision_changed"),
                    ("answer_never_varies", "answer_never_varies"),
                    ("broken_host", "broken_host"),
                    ("not_judged", "not_judged"),
                    ("device_time_disagrees", "device_time_disagrees"),
                    ("no_device_time", "no_device_time"),
                    ("not_its_own_kernel", "not_its_own_kernel"),
                    ("not_timed", "not_timed"),
                    ("no_transfer", "no_transfer"),
                    ("fitted_to_the_benchmark", "fitted_to_the_benchmark"),
                    ("needs_full_level", "needs_full_level"),
                ],
                max_length=40,
            ),
        ),
    ]
