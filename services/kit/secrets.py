"""The door for secrets: a text that went through `mask` carries no credential into a log that cannot forget."""

import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple


class Finding(NamedTuple):
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


class Service(NamedTuple):
    """How the tokens of one service are recognised."""

    kind: str
    anchor: str  # a cheap pattern without which no token of the service can be present
    detectors: tuple[str, ...] = ()  # module.Class below detect_secrets.plugins
    pattern: str = r"(?!)"  # what the detectors do not know


SERVICES = (
    Service("anthropic-key", "sk-ant-", (), r"sk-ant-[\w-]{16,}"),
    Service("aws-key", "AKIA|ASIA|ABIA|ACCA|A3T", ("aws.AWSKeyDetector",)),
    Service("databricks-token", "dapi", (), r"(?<!\w)dapi[0-9a-f]{32}"),
    Service("digitalocean-token", "do[opr]_v1_", (), r"do[opr]_v1_[0-9a-f]{64}"),
    Service("discord-token", r"[MNO][\w-]{23,25}\.[\w-]{6}\.", ("discord.DiscordBotTokenDetector",)),
    Service("github-token", "gh[oprsu]_|github_pat_", ("github_token.GitHubTokenDetector",), r"github_pat_\w{22,}"),
    Service(
        "gitlab-token", "gl[a-z]{2,6}-|GR1348941", ("gitlab_token.GitLabTokenDetector",), r"gl(?:pat|ptt)-[\w-]{20,}"
    ),
    Service("google-key", "AIza|GOCSPX-|ya29", (), r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,}"),
    Service("groq-key", "gsk_", (), r"gsk_[A-Za-z0-9]{40,}"),
    Service("huggingface-token", "hf_", (), r"hf_[A-Za-z0-9]{30,}"),
    Service("jwt", "eyJ", (), r"eyJ[\w-]++\.eyJ[\w-]++(?:\.[\w-]*+)?"),
    Service("mailchimp-key", "-us[0-9]", ("mailchimp.MailchimpDetector",)),
    Service("npm-token", "npm_", ("npm.NpmDetector",), r"npm_[A-Za-z0-9]{36}"),
    Service("openai-key", "sk-", ("openai.OpenAIDetector",), r"(?<![A-Za-z0-9])sk-(?=[\w-]*\d)[\w-]{20,}"),
    Service("pypi-token", "pypi-AgE", ("pypi_token.PypiTokenDetector",)),
    Service("sendgrid-key", r"SG\.", ("sendgrid.SendGridDetector",)),
    Service(
        "slack-token", "xox|xapp-|/B[A-Z0-9]{8,12}/", ("slack.SlackDetector",), r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{16,}"
    ),
    Service("square-token", "sq0", ("square_oauth.SquareOAuthDetector",), r"sq0[a-z]{3}-[\w-]{22,}"),
    Service("stripe-key", "[rs]k_(?:live|test)_|whsec_", ("stripe.StripeDetector",), r"[rs]k_test_\w{24,}|whsec_\w{24,}"),
    Service("telegram-token", ":AA", ("telegram_token.TelegramBotTokenDetector",)),
    Service("twilio-key", "(?:AC|SK)[a-z0-9]{32}", ("twilio.TwilioKeyDetector",)),
)
