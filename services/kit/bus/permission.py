"""A refusal of the broker as a sentence: which user may not do what."""

_PUBLISHED = ' for publish to "'
PERSON = "for this command set ANNALS_NATS__PASSWORD to the password of people"
ROOM = "to do so set ANNALS_NATS__USER=room, and ANNALS_NATS__PASSWORD to the password of rooms"
HARNESS = "to do so set ANNALS_NATS__USER=harness, and ANNALS_NATS__PASSWORD to the password of harnesses"


def refused_subject(violation: str) -> str:
    """The subject that nothing may be published to, as the broker writes it; empty where it refused something else.

    >>> refused_subject('nats: permissions violation for publish to "ask.sql"')
    'ask.sql'
    """
    return violation.partition(_PUBLISHED)[2].partition('"')[0]


def sentence(user: str, subject: str) -> str:
    """The refusal in words: what this user may not do, and who may. `user`: empty for one without a password."""
    who = f"the user `{user}`" if user else "who gives no password"
    kind, _, rest = subject.partition(".")
    match kind:
        case "do":
            return f"{who} may ask, and may not decide what people decide; {PERSON}"
        case "ask":
            return f"{who} may not ask for `{rest.partition('.')[0]}`, which reads all projects; {PERSON}"
        case "in":
            return f"{who} may not report what a harness sees; {HARNESS}"
        case _:
            return f"{who} may not look into what the broker stores, or change it; {ROOM}"
