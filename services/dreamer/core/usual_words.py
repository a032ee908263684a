"""Words of English that are written in one way or another without saying another thing.

Each table is short on purpose. A word that is in none of them makes two texts different, and so does every word of
another language: a rule that is remembered twice costs a line, two rules that become one cost a rule.
"""

Words = tuple[str, ...]


def _phrases(**groups: str) -> dict[Words, Words]:
    found = dict[Words, Words]()
    for usual, phrases in groups.items():
        for phrase in phrases.split(","):
            found[tuple(phrase.split())] = () if usual == "nothing" else (usual.rstrip("_").replace("_", "-"),)
    return found


PHRASES: dict[Words, Words] = {
    **_phrases(
        nothing="make sure to,make sure that,make sure,be sure to,ensure that,remember to,keep in mind that,note that,"
        "we have to,it is required to,it is required that,it is important to,has to,have to,need to,needs to,"
        "is required to,in this project,in this repository,in this repo,in this codebase,for this project,"
        "of this project,of the project,at the moment,as of now,in general,as a rule,of course",
        optional="not have to,not need to,need not,not required to,not necessary to,not need,not necessarily,"
        "not obliged to",
        not_always="not always",
        not_only="not only,not just,not solely,not exclusively",
        not_each="not every,not each,not all",
        no_longer="no longer,not any longer,not any more,not anymore",
        not_="never,must not,should not,shall not,is forbidden to,is not allowed to,not allowed to,not ever,"
        "not be allowed to,refrain from,avoid,not permitted to,must never,should never,is never to,"
        "under no circumstances",
        before="prior to,ahead of",
        through="via,by means of,by way of",
        at_most="at most,no more than,not more than,up to,a maximum of,maximum of,at the most",
        at_least="at least,no fewer than,no less than,not less than,a minimum of,minimum of",
        only="solely,exclusively",
        in_="inside,within,inside of",
        while_="whilst",
        default="by default,defaults to",
        pull_request="pull request,pull requests,PR,PRs,merge request,merge requests",
        use="make use of,makes use of,making use of",
    ),
    ("is", "set", "to"): (),
    ("to", "avoid"): ("to", "avoid"),
    ("not", "to"): ("not",),
}
"""Several words, and what is compared in their place: nothing, or one word. The longest of those that fit is taken."""
LONGEST_PHRASE = max(map(len, PHRASES))

_SAME = """
use employ utilize utilise
run execute
delete remove erase
store keep save
start begin launch
finish end complete
change modify edit alter
need require
hold contain include
check verify
show display
choose pick select
assign give
send submit
occur happen
folder directory dir
repository repo
database db
config configuration
environment env
documentation doc docs
production prod
administrator admin
application app
authentication auth
kubernetes k8s
postgres postgresql
each every
allowed permitted
forbidden prohibited
parameter param
s second sec
ms millisecond msec
min minute
h hour hr
% percent
2 two
3 three
4 four
5 five
6 six
7 seven
8 eight
9 nine
10 ten
12 twelve
"""
SAME = {word: group.split()[0] for group in _SAME.strip().splitlines() for word in group.split()}
"""Word -> the one that is compared in its place."""

NOTHING = frozenset(
    ["our", "its", "currently", "now", "always", "must", "should", "shall", "also", "simply", "therefore", "generally"]
)
"""Words that may be there or not."""
EVERYBODY = frozenset(("we", "you"))
"""The same, at the beginning."""
NOBODY = frozenset(["no", "nobody", "none", "nothing", "neither", "nor"])
"""Next to these it does say something what must be done."""
EACH = frozenset(("each", "every"))
ALL = "all"
"""The same as `each` at the beginning, where nothing is counted: all tests may take five minutes together."""
RESTRICTING = frozenset(["but", "of", "other", "except", "and", "or"])
"""Behind `all` they say which."""
VERBS = frozenset(
    [
        "accept",
        "add",
        "allow",
        "answer",
        "apply",
        "append",
        "authenticate",
        "authorize",
        "avoid",
        "begin",
        "belong",
        "block",
        "build",
        "call",
        "carry",
        "change",
        "check",
        "close",
        "come",
        "compile",
        "connect",
        "contain",
        "convert",
        "copy",
        "create",
        "cross",
        "decrypt",
        "delete",
        "depend",
        "deploy",
        "drop",
        "emit",
        "encrypt",
        "end",
        "escape",
        "exceed",
        "expect",
        "expire",
        "fail",
        "fetch",
        "fit",
        "follow",
        "format",
        "get",
        "go",
        "handle",
        "happen",
        "have",
        "hold",
        "import",
        "include",
        "install",
        "keep",
        "know",
        "land",
        "last",
        "lead",
        "leave",
        "listen",
        "live",
        "load",
        "lock",
        "look",
        "mean",
        "merge",
        "migrate",
        "move",
        "need",
        "open",
        "own",
        "parse",
        "pass",
        "point",
        "poll",
        "prefer",
        "print",
        "produce",
        "provide",
        "publish",
        "push",
        "put",
        "raise",
        "read",
        "receive",
        "refuse",
        "reject",
        "replicate",
        "resolve",
        "retry",
        "rotate",
        "release",
        "render",
        "repeat",
        "require",
        "reset",
        "return",
        "run",
        "save",
        "see",
        "send",
        "serve",
        "set",
        "share",
        "sign",
        "sit",
        "skip",
        "sort",
        "start",
        "stay",
        "stop",
        "store",
        "support",
        "take",
        "throw",
        "trigger",
        "update",
        "upgrade",
        "use",
        "validate",
        "verify",
        "wait",
        "want",
        "watch",
        "work",
        "wrap",
        "write",
    ]
)
"""Verbs of which `depends` is the same as `depend`, where no article makes a thing of it."""
SUBJECTS: frozenset[Words] = frozenset({("this", "project"), ("this", "repository"), ("this", "codebase")})
"""The subjects that a rule of the project may have."""
BEING = frozenset({"is", "are", "be", "been"})
NEGATIONS = frozenset({"not", "no-longer", "not-only", "not-always", "not-each", "optional"})
MODALS = frozenset({"may", "can", "only", "cannot", "could", "will"})

PARTICIPLES = {
    "written": "write", "kept": "keep", "built": "build", "run": "run", "sent": "send", "read": "read", "set": "set",
    "made": "make", "found": "find", "held": "hold", "put": "put", "done": "do", "begun": "begin", "chosen": "choose",
    "given": "give", "taken": "take", "shown": "show", "drawn": "draw", "thrown": "throw", "known": "know",
    "split": "split", "cut": "cut", "drawn-up": "draw-up", "bound": "bind", "broken": "break", "sold": "sell",
    "caught": "catch", "drunk": "drink", "frozen": "freeze", "hidden": "hide", "left": "leave", "lost": "lose",
    "met": "meet", "paid": "pay", "shut": "shut", "spent": "spend", "told": "tell", "understood": "understand",
}  # fmt: skip
"""Verbs whose form after `is` does not end in `ed`."""
NO_PARTICIPLES = frozenset(
    {"need", "feed", "seed", "speed", "red", "bed", "shed", "exceed", "proceed", "embed", "indeed"}
)

OPENINGS = frozenset(
    [
        "before",
        "after",
        "when",
        "whenever",
        "if",
        "unless",
        "until",
        "while",
        "during",
        "in",
        "on",
        "for",
        "at",
        "with",
        "without",
        "by",
        "from",
        "under",
        "per",
        "once",
        "as-soon-as",
    ]
)
"""The first words of a part of a sentence that may be in front, behind a comma, or at the end."""
PARTING = frozenset(
    [
        "before",
        "after",
        "when",
        "whenever",
        "if",
        "unless",
        "until",
        "while",
        "once",
        "and",
        "or",
        "then",
        "but",
        "because",
        "so",
        "that",
        "which",
        "who",
    ]
)
"""The first words of a part of a sentence that a verb may follow."""
REASONS: tuple[Words, ...] = (
    ("because",), ("so", "that"), ("in", "order", "to"), ("to", "avoid"), ("to", "prevent"), ("since",),
    ("in", "order", "that"),
)  # fmt: skip
"""The first words of a reason. A text with a reason says more than the same without, and nothing else."""
NO_REASON = frozenset({("because", "of")})
