"""Addresses: accounts and the two apps."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from knowledge.api.urls import docs_page, no_such_address
from knowledge.curation.logins import own_name, throttled
from knowledge.experience_urls import search
from knowledge.urls import comment, retract_comment, revoke_token, tokens
from knowledge.views import me
from knowledge.views.list_views import new_view, one_view
from knowledge.views.projects import project, projects
from kopt.refusals import bad_request, server_error

handler400 = bad_request
handler404 = no_such_address
handler500 = server_error
urlpatterns = [
    path("login/", throttled(LoginView.as_view(template_name="login.html")), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("me/", me.me, name="me"),
    path("tokens/", tokens, name="tokens"),
    path("tokens/<slug:key>/revoke", revoke_token, name="revoke_token"),
    path("me/notifications/<int:key>", me.notification, name="notification"),
    path("me/notifications/read", me.read_all, name="read_all"),
    path("me/mail", me.mail, name="mail"),
    path("me/mail/<str:word>", me.confirm_mail, name="confirm_mail"),
    path("me/keys", me.keys, name="keys"),
    path("me/sessions/end", me.log_out_elsewhere, name="log_out_elsewhere"),
    path("projects/", projects, name="projects"),
    path("projects/<int:key>", project, name="project"),
    path("views/", new_view, name="new_view"),
    path("views/<int:key>", one_view, name="one_view"),
    path("comments/", comment, name="comment"),
    path("comments/<int:pk>/retract", retract_comment, name="retract_comment"),
    # Before the admin's own addresses: every door that takes a password counts the wrong ones.
    path("admin/login/", throttled(admin.site.login)),
    path(
        "admin/password_change/",
        admin.site.admin_view(throttled(admin.site.password_change, own_name)),
    ),
    path("admin/", admin.site.urls),
    path("w/", include("knowledge.urls")),
    path("x/", include("knowledge.experience_urls")),
    path("search/", search, name="search"),
    path("api/", docs_page, name="api_docs"),
    path("api/v1/", include("knowledge.api.urls")),
    path("api/v1/", include("campaigns.api.urls")),
    path("", include("campaigns.urls")),
]
if settings.KOPT_OIDC_ISSUER:
    urlpatterns.append(path("oidc/", include("kopt.single_sign_on")))
