"""ASGI entry point."""

import gc
import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from kopt.database import hold_open

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kopt.settings")

_pages = get_asgi_application()

# What answers beside the pages needs the apps, which are ready only now; and all the pages are read
# at the start, which takes seconds, not by whoever asks first.
import kopt.urls  # noqa: E402, F401
from kopt.uploads import bounded  # noqa: E402

application = bounded(_pages)
held = hold_open(settings.DATABASES["default"])

# What is loaded now stays for ever; without this every full collection of garbage, in the middle of
# some request, walks over all of it again.
gc.collect()
gc.freeze()
