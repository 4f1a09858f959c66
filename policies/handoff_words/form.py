"""How people ask for a person: the form of the words of a language, and no rule about them.

`interceptors.person_wanted` has the rules.

Words are lower case; `|` parts phrases. A noun that also names other things ("agent", "manager") counts only behind
words that ask to talk, or where it is all that was said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """`talk` stands before a person, `behind` behind one; `want` before a person who is surely one.

    `beside` are words before a person that say nothing else, `sure_beside` those that make one of any noun;
    `not_behind` make something else of it. `alone` may stand beside a person who is all that is said, if surely
    one, or one of `lone`. `whole` are phrases that ask by themselves.

    Negations: `no` negates, `answer` only behind something before it; `machines` take a negation upon themselves.
    `carries` and `subjects` are what a request begins with, `orders` are requests by themselves, and behind `doubts`
    nothing is asked for; behind `joins` what is said before counts. `conditions` make a wish depend on something, in a
    clause before it or behind it, but for those of `polite`. `negates_behind`: also a negation behind the words counts.
    `negates_next`: only a negation right before them does.
    """

    talk: str
    people: str
    sure: str
    lone: str
    want: str = ""
    behind: str = ""
    beside: str = ""
    sure_beside: str = ""
    not_behind: str = ""
    alone: str = ""
    whole: str = ""
    no: str
    answer: str
    machines: str
    carries: str = ""
    subjects: str = ""
    orders: str = ""
    joins: str = ""
    doubts: str = ""
    conditions: str = ""
    polite: str = ""
    asks_not: str = ""  # how a question begins in which a negation is none
    negates_behind: bool = False
    negates_next: bool = False


MACHINES: Final = "bot|bots|chatbot|chatbots|robot|robots|ai|computer|"
"""Names for one in every language."""
