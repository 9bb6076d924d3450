"""All settings, top to bottom. Everything a deployment may set is an environment variable with a working default;
docs/settings.md lists them.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import dj_database_url
from csp.constants import NONCE, NONE, SELF

from advisor import environment

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

# --- where state lives
# --------------------------------------------------------------------------------------------------

DATA = Path(environment.text("TIDEMARK_DATA") or BASE_DIR / "var").resolve()
_KEYS = DATA / "keys"


def _key_file(name: str) -> str:
    try:
        return (_KEYS / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""


# Without a key (a command such as `advise`, which needs nothing of ours) a throw-away one serves: nothing outlives the
# process. Long-running processes refuse to start without a lasting key: see advisor/teams/checks.py.
_lasting_secret_key = environment.text("TIDEMARK_SECRET_KEY") or _key_file("secret_key")
SECRET_KEY = _lasting_secret_key or secrets.token_urlsafe(50)
SECRET_KEY_IS_LASTING = bool(_lasting_secret_key)
#: Keys that stored credentials are encrypted with, one url-safe base64 32-byte key a line; the first one encrypts.
CREDENTIAL_KEYS = (environment.text("TIDEMARK_CREDENTIAL_KEYS") or _key_file("credential_keys")).split()
#: Keys that the audit's chain is signed with, in the same form; the first one signs, all of them verify.
AUDIT_KEYS = (environment.text("TIDEMARK_AUDIT_KEYS") or _key_file("audit_key")).split()
#: Where the end of the audit is written down outside of the database: best on another disk, or appended elsewhere.
AUDIT_ANCHORS = Path(environment.text("TIDEMARK_AUDIT_ANCHORS") or DATA / "audit" / "anchors")

# --- how it is reached
# --------------------------------------------------------------------------------------------------

DEBUG = environment.boolean("TIDEMARK_DEBUG")
#: True where people reach us through HTTPS (a proxy in front): cookies become secure and plain HTTP is redirected.
HTTPS = environment.boolean("TIDEMARK_HTTPS")
ALLOWED_HOSTS = environment.words("TIDEMARK_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
#: The address people use, for links in mails and on the command line.
BASE_URL = environment.text("TIDEMARK_BASE_URL", "http://127.0.0.1:8000")
CSRF_TRUSTED_ORIGINS = [BASE_URL] if HTTPS else []
#: How many proxies of ours stand in front, one behind the other: the caller's address is the one that the outermost
#: of them saw. 0: nobody's word about addresses is taken.
TRUSTED_PROXIES = environment.integer("TIDEMARK_TRUSTED_PROXIES", 0)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 86_400
# Several products on one host name share cookies across ports, so ours have names of their own.
SESSION_COOKIE_NAME = "tidemark_session"
CSRF_COOKIE_NAME = "tidemark_csrf"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY: dict[str, Any] = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        # Two style elements that Plotly makes when a chart is first touched, by their contents: an empty one that it
        # fills through the DOM, and one of a map library that comes with it. A new version of it may need the second
        # hash anew.
        "style-src": [
            SELF,
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
            "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",
        ],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "manifest-src": [SELF],
    }
}

# --- the application
# ----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "allauth.usersessions",
    "advisor.ui",
    "advisor.teams",
    "advisor.journal",
    "collector",
    "advisor.recommendations",
    "advisor.changes",
    "advisor.web",
    "advisor.api",
]

MIDDLEWARE = [
    "advisor.teams.client_address.middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "advisor.api.problems.ProblemMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "advisor.teams.audit_context.middleware",
    "advisor.web.middleware.reader",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "advisor.urls"
WSGI_APPLICATION = "advisor.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "advisor.web.context.navigation",
            ],
            "builtins": ["advisor.ui.templatetags.quantities"],
        },
    }
]

CSRF_FAILURE_VIEW = "advisor.web.views.errors.csrf_failed"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "fleet"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- signing in (django-allauth)
# ---------------------------------------------------------------------------------------

ACCOUNT_ADAPTER = "advisor.teams.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_FORMS = {"login": "advisor.teams.forms.SignIn"}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGIN_ON_GET = False
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_LOGOUT_REDIRECT_URL = "login"
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
# Ten failed tries a quarter of an hour: at one account from wherever they come, and from one address at whichever
# account. Passkeys and login links stay open to an owner whose name somebody else is trying.
ACCOUNT_RATE_LIMITS = {
    "login": "60/m/ip",
    "login_failed": "10/15m/ip,10/15m/key",
    "reauthenticate": "10/15m/user",
}
MFA_ADAPTER = "advisor.teams.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
USERSESSIONS_TRACK_ACTIVITY = False
# Two constraints of the library that MySQL and MariaDB leave out guard e-mail addresses, which it does not manage here;
# for models of our own the same is an error, teams.E006.
SILENCED_SYSTEM_CHECKS = ["models.W036"]

# OpenID Connect, where an issuer is named. Nobody gets an account by it alone: see advisor/teams/openid.py.
OIDC_ISSUER = environment.text("TIDEMARK_OIDC_ISSUER").rstrip("/")
OIDC_NAME = environment.text("TIDEMARK_OIDC_NAME", "OpenID Connect")
#: The claim that lists a person's groups, and what each group is here: `group=team:role+role`, separated by commas.
OIDC_GROUPS_CLAIM = environment.text("TIDEMARK_OIDC_GROUPS_CLAIM", "groups")
OIDC_TEAMS = environment.words("TIDEMARK_OIDC_TEAMS")
SOCIALACCOUNT_ADAPTER = "advisor.teams.openid.OpenIdAdapter"
SOCIALACCOUNT_AUTO_SIGNUP = True
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": environment.text("TIDEMARK_OIDC_CLIENT_ID"),
                "secret": environment.text("TIDEMARK_OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ]
        if OIDC_ISSUER
        else [],
    }
}
if OIDC_ISSUER:
    # The button's form is sent to us and redirected to the issuer, which browsers hold to the same rule.
    CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"] += [
        "{0.scheme}://{0.netloc}".format(urlsplit(OIDC_ISSUER)),
        *environment.words("TIDEMARK_OIDC_ORIGINS"),
    ]

# --- mail (invitations; without a host their links are only shown)
# -----------------------------------------------------------------------

EMAIL_HOST = environment.text("TIDEMARK_SMTP_HOST")
EMAIL_PORT = environment.integer("TIDEMARK_SMTP_PORT", 25, minimum=1)
EMAIL_HOST_USER = environment.text("TIDEMARK_SMTP_USER")
EMAIL_HOST_PASSWORD = environment.text("TIDEMARK_SMTP_PASSWORD")
EMAIL_USE_TLS = environment.boolean("TIDEMARK_SMTP_STARTTLS")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = environment.text("TIDEMARK_MAIL_FROM", "tidemark@localhost")

# --- the product database
# -----------------------------------------------------------------------------------------------

_database_url = environment.text("TIDEMARK_DATABASE_URL")
if _database_url:
    DATABASES: dict[str, Any] = {
        "default": dj_database_url.parse(_database_url, conn_max_age=300, conn_health_checks=True)
    }
    DATABASES["default"].setdefault("OPTIONS", {}).update(
        {"charset": "utf8mb4", "isolation_level": "read committed", "sql_mode": "STRICT_TRANS_TABLES"}
    )
    # A password in a URL shows in process listings of containers; a secret file does not.
    if environment.text("TIDEMARK_DATABASE_PASSWORD"):
        DATABASES["default"]["PASSWORD"] = environment.text("TIDEMARK_DATABASE_PASSWORD")
else:
    # Deferred transactions lose writes to "database is locked" under several writers; IMMEDIATE with WAL lost none.
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA / "tidemark.sqlite3",
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON",
            },
            "CONN_MAX_AGE": 300,
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Conditional and expression constraints are silently absent on MySQL and MariaDB; none of ours may depend on them.
# Tries at signing in are counted by all web processes together, so what is cached lies in the product database.
CACHES = {"default": {"BACKEND": "advisor.teams.shared_cache.SharedCache"}}

# --- the queue
# ----------------------------------------------------------------------------------------------------------

BROKER_URL = environment.text("TIDEMARK_BROKER_URL", f"redis+socket://{DATA}/run/redis.sock")
# As with the database: a password in a URL shows in process listings of containers; a secret file does not.
_broker_password = environment.text("TIDEMARK_BROKER_PASSWORD")
if _broker_password:
    _broker = urlsplit(BROKER_URL)
    BROKER_URL = _broker._replace(netloc=f":{quote(_broker_password, safe='')}@{_broker.netloc}").geturl()

# --- collecting
# ---------------------------------------------------------------------------------------------------------

FAST_INTERVAL_SECONDS = environment.integer("TIDEMARK_FAST_INTERVAL_SECONDS", 10, minimum=1)
FULL_INTERVAL_SECONDS = environment.integer("TIDEMARK_FULL_INTERVAL_SECONDS", 60, minimum=5)
#: Days that samples are kept.
SAMPLE_RETENTION_DAYS = environment.integer("TIDEMARK_SAMPLE_RETENTION_DAYS", 90, minimum=1)
#: Networks that non-administrators may register servers in, besides the built-in deny list; empty: any that is not
#: denied.
ALLOWED_TARGET_NETWORKS = environment.words("TIDEMARK_ALLOWED_TARGET_NETWORKS")

# --- files, languages, time
# ---------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "advisor.ui.finders.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_MAX_AGE = 60
# Pages name hashed files only; compressing both names would double the longest step of the first start.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ko", "한국어")]
# What rules say of themselves is translated beside them: it is more than all other words together.
LOCALE_PATHS = [BASE_DIR / "locale", BASE_DIR / "advisor/rules/locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- logs
# ---------------------------------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "filters": {"without_login_links": {"()": "advisor.teams.log_filter.WithoutLoginLinks"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["without_login_links"]}},
    "root": {"handlers": ["stderr"], "level": environment.text("TIDEMARK_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django.server": {"level": "ERROR"},
        # One line for every tick, its receipt and its success would bury what matters.
        "celery.beat": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
}
