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
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
