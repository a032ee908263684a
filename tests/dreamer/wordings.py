"""Facts as agents write them down: each once, in other words, and as what reads alike and is another fact.

Two halves. Rules were made with the first one at hand; the second one, and `hand_pairs`, measure them.
"""

from typing import NamedTuple


class Wording(NamedTuple):
    """Patterns with slots (`made_project.SLOTS`) that say one thing."""

    category: str
    text: str
    others: tuple[str, ...]
    """The same fact in other words. Not all of them are meant to be found."""
    against: tuple[str, ...]
    """Another fact, which reads alike."""


FIRST = (
    Wording(
        "ARCHITECTURE",
        "The {part} service listens on port {port}.",
        ("{part} service is listening on port {port}", "Port {port} belongs to the {part} service."),
        ("The {part} service listens on port {port2}.", "The {part} service connects to port {port}."),
    ),
    Wording(
        "PROJECT_RULES",
        "Run {command} before each push to {part}.",
        ("Before every push to {part}, run `{command}`.", "Always execute {command} prior to each push to {part}."),
        ("Run {command} after each push to {part}.", "Never run {command} before each push to {part}."),
    ),
    Wording(
        "CONFIG_VALUES",
        "The default timeout of the {part} client is {number} seconds.",
        (
            "The timeout of the {part} client defaults to {number} s.",
            "By default, the timeout of the {part} client is {number} sec.",
        ),
        (
            "The default timeout of the {part} client is {number} minutes.",
            "The default timeout of the {part} server is {number} seconds.",
        ),
    ),
    Wording(
        "ARCHITECTURE",
        "Module {part} depends on module {part2}.",
        ("The {part} module needs the {part2} module.", "In this project, module {part} depends on module {part2}."),
        ("Module {part2} depends on module {part}.", "Module {part} does not depend on module {part2}."),
    ),
    Wording(
        "CONSTRAINTS",
        "Records of the {part} store must never be deleted before {number} days.",
        (
            "Never delete records of the {part} store before {number} days.",
            "Do not remove records of the {part} store before {number} days.",
        ),
        (
            "Records of the {part} store must be deleted before {number} days.",
            "Records of the {part} store must never be deleted after {number} days.",
        ),
    ),
    Wording(
        "NAMING",
        "Events of {part} are prefixed with {name}_.",
        ("Prefix the events of {part} with `{name}_`.", "All {part} event names begin with {name}_."),
        ("Events of {part} are suffixed with {name}_.", "Commands of {part} are prefixed with {name}_."),
    ),
    Wording(
        "PROJECT_RULES",
        "Review changes of {part} with at least {number} people.",
        ("Changes of {part} must be reviewed with at least {number} people.", "{part} needs {number} reviewers."),
        ("Review changes of {part} with at most {number} people.", "Review changes of {part} with {number} people."),
    ),
    Wording(
        "ARCHITECTURE",
        "We store {part} sessions in {store} because it survives restarts.",
        ("{part} sessions are kept in {store}.", "Store {part} sessions in {store}.", "{store} has all {part} state."),
        ("We store {part} sessions in {store2} because it survives restarts.",),
    ),
    Wording(
        "CONSTRAINTS",
        "If the {part} queue exceeds {number} messages, stop the importer.",
        (
            "Stop the importer if the {part} queue exceeds {number} messages.",
            "{number} is the limit of the {part} queue.",
        ),
        (
            "If the {part} queue exceeds {number} messages, start the importer.",
            "Stop the importer unless the {part} queue exceeds {number} messages.",
        ),
    ),
    Wording(
        "CONFIG_VALUES",
        "The {part} workers use {store} with {number} connections.",
        (
            "{part} workers utilize {store} with {number} connections.",
            "{number} connections to {store} per {part} worker.",
        ),
        (
            "The {part} workers use {store} with {number2} connections.",
            "The {part} workers use {store2} with {number} connections.",
        ),
    ),
)
SECOND = (
    Wording(
        "ARCHITECTURE",
        "Reports of {part} are written to {store} every {number} minutes.",
        (
            "Write reports of {part} to {store} each {number} min.",
            "The {part} report lands in {store} every {number} minutes.",
        ),
        (
            "Reports of {part} are written to {store} every {number} hours.",
            "Reports of {part} are read from {store} every {number} minutes.",
        ),
    ),
    Wording(
        "PROJECT_RULES",
        "Do not merge {part} without a green {command}.",
        ("Never merge {part} without a green `{command}`.", "{part} must not be merged without a green {command}."),
        ("Merge {part} without a green {command}.", "Do not merge {part} with a green {command}."),
    ),
    Wording(
        "CONFIG_VALUES",
        "The {part} cache holds at most {number} entries.",
        ("Up to {number} entries fit in the {part} cache.", "The {part} cache contains no more than {number} entries."),
        ("The {part} cache holds at least {number} entries.", "The {part} cache holds at most {number2} entries."),
    ),
    Wording(
        "ARCHITECTURE",
        "The {part} adapter calls the {part2} adapter through {store}.",
        ("{part} adapter calls {part2} adapter via {store}", "Calls from {part} to {part2} go through {store}."),
        (
            "The {part2} adapter calls the {part} adapter through {store}.",
            "The {part} adapter calls the {part2} adapter without {store}.",
        ),
    ),
    Wording(
        "CONSTRAINTS",
        "Only {part} administrators may change the {name} limit.",
        (
            "Solely {part} administrators may modify the {name} limit.",
            "The {name} limit is changed by {part} administrators alone.",
        ),
        (
            "Only {part2} administrators may change the {name} limit.",
            "{part} administrators may only change the {name} limit.",
        ),
    ),
    Wording(
        "NAMING",
        "Database tables of {part} start with {name}.",
        ("The db tables of {part} begin with {name}.", "Every table of {part} carries the prefix {name}."),
        ("Database tables of {part} end with {name}.", "Database views of {part} start with {name}."),
    ),
    Wording(
        "PROJECT_RULES",
        "When {part} changes, run {command} in the {name} folder.",
        ("Run {command} in the {name} directory when {part} changes.", "A change of {part} calls for {command}."),
        (
            "When {part2} changes, run {command} in the {name} folder.",
            "When {part} changes, skip {command} in the {name} folder.",
        ),
    ),
    Wording(
        "CONSTRAINTS",
        "Uploads to {part} require a signature so that {name} can be verified.",
        (
            "Each upload to {part} needs a signature.",
            "Uploads to {part} require a signature.",
            "Sign what {part} gets.",
        ),
        (
            "Downloads from {part} require a signature so that {name} can be verified.",
            "Uploads to {part} require no signature.",
        ),
    ),
    Wording(
        "ARCHITECTURE",
        "{part} requests are authenticated with {name} tokens.",
        ("Authenticate {part} requests with {name} tokens.", "{name} tokens authenticate requests to {part}."),
        (
            "{part} requests are not authenticated with {name} tokens.",
            "{part} responses are authenticated with {name} tokens.",
        ),
    ),
    Wording(
        "CONFIG_VALUES",
        "The retention of {part} logs is set to {number} days.",
        ("Retention of {part} logs: {number} days.", "{part} logs are kept for {number} days."),
        (
            "The retention of {part} logs is set to {number2} days.",
            "The retention of {part} metrics is set to {number} days.",
        ),
    ),
)
