"""All settings. Each comes from the environment once, and has a default that runs after a clone.

The comment above a variable is what docs/settings.md says of it (python -m tools.reference).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kopt import environment as env
from kopt.broker import celery_settings
from kopt.database import database_settings
from kopt.secret import secret_key

BASE_DIR = Path(__file__).resolve().parent.parent
# The folder of database, queue, secret key and scratch files.
DATA_DIR = env.folder("KOPT_DATA", BASE_DIR / "var")

SECRET_KEY = secret_key(DATA_DIR)
# Django's debug pages.
DEBUG = env.flag("KOPT_DEBUG", default=False)
# Host names that the server answers to, with commas between.
ALLOWED_HOSTS = env.words("KOPT_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
# Trusted origins for forms, with commas between, such as `https://kopt.example.org`.
CSRF_TRUSTED_ORIGINS = env.words("KOPT_ORIGINS", ())

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "knox",
    "knowledge",
    "campaigns",
]
MIDDLEWARE = [
    "knowledge.views.projects.OwnEyes",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kopt.security.ContentSecurityPolicy",
    "kopt.refusals.Refusals",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "knowledge.views.formats.PageFormats",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "kopt.urls"
WSGI_APPLICATION = "kopt.wsgi.application"
ASGI_APPLICATION = "kopt.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES: dict[str, Any] = {"default": database_settings(DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]
PASSWORD_HASHERS = ["knowledge.curation.logins.HashedInTurn"]
# The header in which a proxy in front passes on the client's address, such as `X-Forwarded-For`, of
# which the last address counts. Logins are limited by address. Set it only where the proxy sets
# that header itself. Empty: no header is trusted, the address is that of the connection.
KOPT_CLIENT_HEADER = env.text("KOPT_CLIENT_HEADER", "")
# The provider of OpenID Connect that people log in by, such as `https://login.example.org`. Empty:
# by passwords alone. The address to register there is `/oidc/back/` of this installation.
KOPT_OIDC_ISSUER = env.text("KOPT_OIDC_ISSUER", "")
# The client's id there.
OIDC_RP_CLIENT_ID = env.text("KOPT_OIDC_CLIENT", "")
# The client's secret.
OIDC_RP_CLIENT_SECRET = env.text("KOPT_OIDC_SECRET", "")
# The claim that lists a person's groups; those named as a role here give it.
KOPT_OIDC_ROLES = env.text("KOPT_OIDC_ROLES", "groups")
OIDC_RP_SCOPES, OIDC_RP_SIGN_ALGO = "openid email profile", "RS256"
OIDC_USE_PKCE, OIDC_TIMEOUT = True, 10
LOGIN_REDIRECT_URL_FAILURE = "/login/?refused=1"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
if KOPT_OIDC_ISSUER:
    AUTHENTICATION_BACKENDS.append("kopt.single_sign_on.Provider")
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# Tokens of the HTTP API; `knowledge.curation.tokens` says how long they hold.
KNOX_TOKEN_MODEL = "knowledge.Token"
# Its migrations would make a table beside ours, which nothing uses and no test could empty.
MIGRATION_MODULES = {"knox": None}
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer"}
REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema"}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "kopt",
    "DESCRIPTION": "Makes GPU kernels faster, and a team can believe every number.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": ["knowledge.api.schema.with_problems"],
}
# How many requests a token may make in a minute, of each server process; 0: any number.
KOPT_API_PER_MINUTE = env.number("KOPT_API_PER_MINUTE", 1_200.0, least=0.0)

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
# Serve straight from the sources: no collectstatic step between a clone and a working page.
WHITENOISE_USE_FINDERS = True

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Send cookies over HTTPS only, and believe a proxy in front whose `X-Forwarded-Proto` says `https`.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("KOPT_HTTPS", default=False)
if SESSION_COOKIE_SECURE:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# A wiki folder as loose files; a little more than an import takes, so that it names the limit.
DATA_UPLOAD_MAX_NUMBER_FILES = 5_100

# How long a worker may be silent before its work is given to another one, in seconds.
KOPT_LEASE_S = env.number("KOPT_LEASE_S", 30.0, least=1.0)
# How often a worker shows that it is alive, in seconds.
KOPT_HEARTBEAT_S = env.number("KOPT_HEARTBEAT_S", 5.0, least=0.2)

# The device that this host measures on, such as `cpu` or `cuda:1`. Empty: the first GPU that torch
# can use, of several of one kind the most idle, else the CPU.
KOPT_DEVICE = env.text("KOPT_DEVICE", "")

# Which busy devices a measurement waits for before it begins: GPUs, also CPUs that are more than a
# quarter busy, or none. On a CPU, what load has spoilt is measured again when the host is quiet;
# with OFF nothing is void for the load of its host, nor measured again because it is undecided.
KOPT_GATE = env.choice("KOPT_GATE", ("GPU", "ALL", "OFF"), default="GPU")

# After how many days an idle worker takes a new noise passport; 0: only when asked.
KOPT_PASSPORT_DAYS = env.number("KOPT_PASSPORT_DAYS", 7.0, least=0.0)
# How long a worker must have been idle for that, in seconds.
KOPT_PASSPORT_QUIET_S = env.number("KOPT_PASSPORT_QUIET_S", 120.0, least=0.0)

# After how many days an idle worker measures accepted kernels against v0 again; 0: only after a
# change of driver, compiler, torch or kopt.
KOPT_SERIES_DAYS = env.number("KOPT_SERIES_DAYS", 0.0, least=0.0)

# With `ALL` this host refuses to measure where it lacks a layer of the sandbox.
KOPT_SANDBOX = env.choice("KOPT_SANDBOX", ("AVAILABLE", "ALL"), default="AVAILABLE")
# How much memory a candidate may take, in MiB; 0: half of the host's.
KOPT_RUNNER_MIB = env.number("KOPT_RUNNER_MIB", 0.0, least=0.0)

# How much a repository's tree may take with all that a command of its harness writes, in MiB, and
# one file for each 16 KiB of it. It lies in memory while the command runs, and counts as that.
KOPT_HARNESS_MIB = env.number("KOPT_HARNESS_MIB", 2_048.0, least=16.0)
# More folders, comma-separated, that a repository's own harness may read, such as a virtual
# environment with what it imports; programs in their `bin` come first on its PATH.
KOPT_HARNESS_PATHS = env.words("KOPT_HARNESS_PATHS", ())

# With `ON` an accepted source is formatted before it is committed (clang-format; ruff or black), if
# its syntax tree stays the same.
KOPT_FORMAT = env.choice("KOPT_FORMAT", ("OFF", "ON"), default="OFF")

# Whether webhooks may go to private addresses and to this host too, where http is taken as well.
KOPT_WEBHOOK_PRIVATE = env.flag("KOPT_WEBHOOK_PRIVATE", default=False)

# The server that takes mail, for people who ask for it on their page. Empty: no mail is sent.
EMAIL_HOST = env.text("KOPT_MAIL_HOST", "")
# Its port.
EMAIL_PORT = int(env.number("KOPT_MAIL_PORT", 587, least=1))
# The name to log in to it with; empty: without a login.
EMAIL_HOST_USER = env.text("KOPT_MAIL_USER", "")
# The password for that.
EMAIL_HOST_PASSWORD = env.text("KOPT_MAIL_PASSWORD", "")
# Whether to speak TLS with it (STARTTLS).
EMAIL_USE_TLS = env.flag("KOPT_MAIL_TLS", default=True)
# From whom the mail is.
DEFAULT_FROM_EMAIL = env.text("KOPT_MAIL_FROM", "kopt@localhost")
EMAIL_TIMEOUT = 10

# Which gain needs nobody's approval: a smaller one, such as 0.1 for 10 % faster.
KOPT_REVIEW_ALONE_BELOW = env.number("KOPT_REVIEW_ALONE_BELOW", 0.10, least=0.0)
# From which gain on two people have to approve, such as 1 for twice as fast.
KOPT_REVIEW_TWO_ABOVE = env.number("KOPT_REVIEW_TWO_ABOVE", 1.0, least=0.0)

globals().update(celery_settings(DATA_DIR))

# How much is logged to stderr.
LOG_LEVEL = env.choice(
    "KOPT_LOG_LEVEL", ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"), default="WARNING"
)
LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"class": "kopt.security.PrintableLines", "format": LINE}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
