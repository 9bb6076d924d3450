"""A small OpenID Connect issuer on loopback: says what the test told it to say of one person."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

CLIENT, SECRET = "tidemark", "the client's secret"


class Issuer:
    """Answers discovery, authorization, token and user information. ``person`` holds the claims."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.challenges: dict[str, str] = {}
        self.refused: list[str] = []
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.get(self)

            def do_POST(self) -> None:
                issuer.post(self)

            def log_message(self, *arguments: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def get(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        if parts.path == "/.well-known/openid-configuration":
            names = ("authorization", "token", "userinfo")
            ends = {f"{name}_endpoint": f"{self.url}/{name}" for name in names}
            self._json(request, {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **ends})
        elif parts.path == "/authorization":
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            code = f"code-{len(self.challenges)}"
            self.challenges[code] = asked["code_challenge"]
            request.send_response(302)
            request.send_header(
                "Location", f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
            )
            request.end_headers()
        elif parts.path == "/userinfo" and request.headers["Authorization"] == "Bearer access":
            self._json(request, self.person)
        else:
            request.send_error(404)

    def post(self, request: BaseHTTPRequestHandler) -> None:
        sent = parse_qs(request.rfile.read(int(request.headers["Content-Length"])).decode())
        digest = hashlib.sha256(sent.get("code_verifier", [""])[0].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if self.challenges.pop(sent["code"][0], "") != challenge:
            self.refused.append(sent["code"][0])
            request.send_error(400)
            return
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "sub": self.person["sub"]}
        token = jwt.encode(claims, "k" * 32, algorithm="HS256")
        self._json(request, {"access_token": "access", "token_type": "Bearer", "id_token": token})

    @staticmethod
    def _json(request: BaseHTTPRequestHandler, value: Any) -> None:
        body = json.dumps(value).encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
