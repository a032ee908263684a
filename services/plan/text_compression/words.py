"""The words that the tiers know. All lower case; the rules find them in any case."""

FILLERS = (
    "absolutely", "actually", "basically", "certainly", "clearly", "completely", "definitely", "entirely",
    "essentially", "extremely", "fairly", "frankly", "fundamentally", "honestly", "just", "literally", "obviously",
    "of course", "practically", "quite", "really", "simply", "somewhat", "totally", "truly", "very",
)  # fmt: skip
"""Words that only add weight or take it away."""

HEDGES = (
    "arguably", "as far as i can tell", "apparently", "i believe", "i feel", "i guess", "i suppose", "i think",
    "if i am not mistaken", "if i'm not mistaken", "it appears", "it seems", "maybe", "perhaps", "presumably",
    "probably",
)  # fmt: skip
"""Words that only say that somebody is not sure."""

CLAUSES = ("i believe", "i feel", "i guess", "i suppose", "i think", "it appears", "it seems")
"""Hedges that take a *that* with them, before one of `SUBJECTS`."""
SUBJECTS = (
    "a", "an", "he", "i", "it", "its", "my", "our", "she", "some", "the", "their", "there", "these", "they", "this",
    "those", "we", "you", "your",
)  # fmt: skip
"""The words before which one of `CLAUSES` goes together with its *that*."""

PLEASANTRIES = ("if you don't mind", "kindly", "many thanks", "please", "thank you", "thanks")

NEVER_BEFORE = {
    "apparently": ("not",),
    "i believe": ("in",),
    "i feel": ("like",),
    "i think": ("about", "of", "through"),
    "it appears": ("as", "in", "to"),
    "it seems": ("as", "like", "to"),
    "many thanks": ("for", "to"),
    "perhaps": ("not",),
    "probably": ("not",),
    "thank you": ("for",),
    "thanks": ("for", "to"),
    "very": ("first", "last", "same"),
}
"""Word -> the words behind it with which it belongs to another phrase, so that it stays."""

APPROXIMATIONS = ("kind of", "sort of")
"""Fillers behind a verb or a pronoun; anywhere else they name a kind."""
BEFORE_APPROXIMATIONS = (
    "are", "be", "been", "being", "feel", "feels", "i", "is", "it", "it's", "just", "look", "looks", "seem", "seems",
    "that's", "they", "was", "we", "were", "you",
)  # fmt: skip

PHRASES = {
    "a large number of": "many",
    "a majority of": "most",
    "at the moment": "now",
    "at the present time": "now",
    "at this moment in time": "now",
    "at this point in time": "now",
    "by means of": "by",
    "despite the fact that": "though",
    "due to the fact that": "because",
    "for the purpose of": "for",
    "for the reason that": "because",
    "has the ability to": "can",
    "have the ability to": "can",
    "in addition to": "besides",
    "in close proximity to": "near",
    "in order to": "to",
    "in spite of the fact that": "though",
    "in the event that": "if",
    "in the process of": "now",
    "in the vicinity of": "near",
    "is able to": "can",
    "on a regular basis": "regularly",
    "on the grounds that": "because",
    "prior to": "before",
    "subsequent to": "after",
    "the majority of": "most",
    "until such time as": "until",
    "with reference to": "about",
    "with regard to": "about",
    "with respect to": "about",
    "with the exception of": "except",
}
"""Many words for what one says."""

AUXILIARIES = (
    "am", "are", "been", "being", "had been", "has been", "have been", "is", "was", "were",
)  # fmt: skip
"""Forms of *to be* that a participle does without, unless one of `MODALS` is before it."""
MODALS = ("can", "could", "may", "might", "must", "not", "ought to", "shall", "should", "will", "would")
"""Words behind which a form of *to be* stays: they mean that something is not so, or not yet."""

PARTICIPLES = ("ed", "en", "ing")
NO_PARTICIPLES = (
    "anything", "children", "during", "eleven", "even", "everything", "evening", "green", "hundred", "indeed",
    "morning", "need", "nothing", "often", "open", "seven", "something", "string", "ten", "then", "thing", "token",
    "when",
)  # fmt: skip
"""Words that only end like participles."""

ARTICLES = ("a", "an", "the")
NEVER_AFTER_ARTICLES = (
    "and", "are", "as", "few", "for", "from", "has", "in", "is", "little", "of", "on", "or", "to", "was", "with",
)  # fmt: skip
"""Before these an `a` is a letter, or the article is half of the meaning."""

CONNECTIVES = {
    "additionally": "+",
    "afterwards": "→",
    "and then": "→",
    "as consequence": "→",
    "as consequence of": "//",
    "as result": "→",
    "as result of": "//",
    "as well as": "+",
    "because": "//",
    "because of": "//",
    "consequently": "→",
    "furthermore": "+",
    "hence": "→",
    "however": "but",
    "moreover": "+",
    "nevertheless": "but",
    "then after": "→",
    "therefore": "→",
}
"""As they stand when the articles are gone."""
BETWEEN = {"and": "+", "or": "|"}
"""Connectives that stand between two words of a line."""

ABBREVIATIONS = {
    "application": "app",
    "argument": "arg",
    "authentication": "auth",
    "compartment": "cmpt",
    "compression": "cmp",
    "compressor": "cmp",
    "config": "cfg",
    "configuration": "cfg",
    "context": "ctx",
    "database": "db",
    "dependencies": "deps",
    "dependency": "dep",
    "directories": "dirs",
    "directory": "dir",
    "documentation": "docs",
    "environment": "env",
    "function": "fn",
    "historian": "hist",
    "implementation": "impl",
    "implemented": "impl",
    "message": "msg",
    "package": "pkg",
    "parameter": "param",
    "repositories": "repos",
    "repository": "repo",
    "session": "ses",
    "specification": "spec",
}
OFTEN = 3
"""The number of times that a word must be in a chunk until it is abbreviated."""
