import math

from tests.bench.search.scoring import Gold, GoldDoc, GoldSet, Ranking, interval, scored, scores


def test_scores_are_those_of_the_books() -> None:
    found = scores(["x", "a", "x", "b"], ["a", "b", "c"])
    names = ("recall@1", "recall@5", "recall@10", "hit@5", "mrr")
    assert (0.0, 2 / 3, 2 / 3, 1.0, 0.5) == tuple(found[one] for one in names)
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert round((1 / math.log2(3) + 1 / 2) / ideal, 6) == round(found["ndcg@10"], 6)
    assert 0.0 == scores([], ["a"])["mrr"]


def test_a_set_about_groups_is_scored_by_groups() -> None:
    docs = (GoldDoc("1", "s1"), GoldDoc("2", "s1"), GoldDoc("3", "s2"))
    one = GoldSet("t", docs, (Gold("q", ("s2",)), Gold("unanswered", ("s1",))), "group")
    found = scored(one, {("t", "q"): Ranking("t", "q", ("1", "2", "3"))})
    assert [0.5, 0.0] == [row["mrr"] for row in found]


def test_the_interval_of_equals_is_nothing() -> None:
    assert (0.0, 0.0, 0.0) == interval([1.0, 0.5], [1.0, 0.5])
    assert interval([1.0] * 9, [0.0] * 9) == (1.0, 1.0, 1.0)
