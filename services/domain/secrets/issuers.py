"""Forms of the tokens of known issuers: a table, each row after what the issuer publishes of its format."""

from typing import NamedTuple


class Issuer(NamedTuple):
    """The form of one issuer's tokens."""

    kind: str
    anchor: str
    """Part of every such token, or next to it; each alternative starts with a literal, which `re` finds fastest."""
    pattern: str
    """Bounded, and linear on any text."""


ALL = (
    Issuer("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    Issuer("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{16,}"),
    # The digit must come soon: names of styles begin like it, too.
    Issuer("openai-key", "sk-(?<![A-Za-z0-9]sk-)", r"sk-(?<![A-Za-z0-9]sk-)(?=[A-Za-z_-]{0,64}+\d)[\w-]{20,}"),
    Issuer("atlassian-token", "ATATT3", r"ATATT3[\w=-]{24,}"),
    Issuer(
        "aws-key",
        "A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}",
        r"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}",
    ),
    Issuer("databricks-token", "dapi[0-9a-f]{32}", "dapi[0-9a-f]{32}"),
    Issuer("digitalocean-token", "do[opr]_v1_", "do[opr]_v1_[0-9a-f]{64}"),
    Issuer(
        "discord-token",
        r"M[\w-]{23,25}\.|N[\w-]{23,25}\.|O[\w-]{23,25}\.",
        r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}",
    ),
    Issuer("docker-token", "dckr_[a-z]{3}_", r"dckr_[a-z]{3}_[\w-]{20,}"),
    Issuer("github-token", "gh[oprsu]_|github_pat_", r"gh[oprsu]_[A-Za-z0-9]{36,}|github_pat_\w{22,}"),
    Issuer("gitlab-token", "gl[a-z]{2,5}-|GR1348941", r"gl[a-z]{2,5}-[\w-]{20,}|GR1348941[\w-]{20,}"),
    Issuer("google-key", r"AIza|GOCSPX-|ya29\.", r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,}"),
    Issuer("grafana-token", "glsa_|glc_", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}"),
    Issuer("groq-key", "gsk_", "gsk_[A-Za-z0-9]{40,}"),
    Issuer("huggingface-token", "hf_[A-Za-z0-9]{30}", "hf_[A-Za-z0-9]{30,}"),
    Issuer("jwt", "eyJ", r"eyJ[\w-]++(?:\.eyJ[\w-]++(?:\.[\w-]*+)?|(?P<no_token>))"),
    Issuer("linear-key", "lin_[a-z]{3,5}_", "lin_[a-z]{3,5}_[A-Za-z0-9]{32,}"),
    Issuer("mailchimp-key", "-us[0-9]", "(?<![0-9a-f])[0-9a-f]{32}-us[0-9]{1,2}"),
    Issuer("newrelic-key", "NRAK-", "NRAK-[A-Z0-9]{27}"),
    Issuer("npm-token", "npm_[A-Za-z0-9]{36}", "npm_[A-Za-z0-9]{36}"),
    Issuer("postman-key", "PMAK-", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Issuer("pulumi-token", "pul-[0-9a-f]{40}", "pul-[0-9a-f]{40}"),
    Issuer("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{40,}"),
    Issuer("sendgrid-key", r"SG\.", r"SG\.[\w-]{22}\.[\w-]{43}"),
    Issuer("sentry-token", "sntry[su]_", r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    Issuer("shopify-token", "shp[a-z]{2}_[0-9a-f]{32}", "shp[a-z]{2}_[0-9a-f]{32}"),
    Issuer(
        "slack-token",
        "xox[a-z]-|xapp-|/B[A-Z0-9]{8,12}/",
        r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{16,}"
        r"|https://hooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,}",
    ),
    Issuer("square-token", "sq0[a-z]{3}-", r"sq0[a-z]{3}-[\w-]{22,}"),
    Issuer(
        "stripe-key",
        "sk_live_|rk_live_|sk_test_|rk_test_|whsec_",
        "[rs]k_(?:live|test)_[A-Za-z0-9]{24,}|whsec_[A-Za-z0-9+/]{24,}",
    ),
    Issuer("supabase-token", "sbp_[0-9a-f]{40}", "sbp_[0-9a-f]{40}"),
    Issuer("telegram-token", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[\w-]{33}"),
    Issuer("twilio-key", "AC[a-z0-9]{32}|SK[a-z0-9]{32}", "AC[a-z0-9]{32}|SK[a-z0-9]{32}"),
    Issuer("vault-token", r"hv[sb]\.", r"hv[sb]\.[\w-]{24,}"),
)
