#!/usr/bin/env python3
"""Run kopt's commands: `python manage.py <noun> <verb>`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kopt.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit(
            "manage.py: Django is not importable; run `make run` once, or use .venv/bin/python"
        )
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, OSError) as error:
        # Once the settings are there, an OSError is a command's own and shows where it is from.
        if isinstance(error, OSError) and settings.configured:
            raise
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    main()
