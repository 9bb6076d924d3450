"""Addresses of this room."""

from __future__ import annotations

from django.urls import path

from advisor.teams import views

urlpatterns = [path("login/<str:secret>", views.follow_login_link, name="login-link")]
