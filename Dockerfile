# One image for every process of docker-compose.yml; which one it is, the command says.

FROM python:3.13.5-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev libmariadb-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY requirements.txt ./
COPY scripts/embedded/uv.txt scripts/embedded/uv.txt
# The environment lives where ./manage.py looks for it. mysqlclient is told which library to link, as it would take
# MySQL's before MariaDB's.
RUN MYSQLCLIENT_CFLAGS=$(pkg-config --cflags libmariadb) && MYSQLCLIENT_LDFLAGS=$(pkg-config --libs libmariadb) \
    && export MYSQLCLIENT_CFLAGS MYSQLCLIENT_LDFLAGS \
    && python -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --require-hashes -r scripts/embedded/uv.txt \
    && UV_PYTHON_DOWNLOADS=never .venv/bin/uv pip install --no-cache --require-hashes -r requirements.txt
COPY . .
# Static files and translations are part of the image, so that a container writes nothing outside /tmp. The key only
# lets Django load; no container runs with it.
RUN .venv/bin/python scripts/compile_messages \
    && TIDEMARK_DATA=/app/var TIDEMARK_SECRET_KEY=only-while-building .venv/bin/python manage.py collectstatic --noinput

FROM python:3.13.5-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends libmariadb3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --no-create-home tidemark
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 TIDEMARK_DATA=/app/var
USER tidemark
EXPOSE 8000
CMD ["gunicorn", "advisor.wsgi:application", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", "--workers", "2", "--threads", "4", "--no-control-socket"]
