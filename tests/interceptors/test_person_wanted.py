"""Whether a customer's words ask for a person: by languages, with negations, and never in words of somebody else."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.clauses import clauses_of, tokens_of
from interceptors.person_wanted import TEXT_LENGTH_MAX, person_wanted
from interceptors.phrases import Phrases, language
from policies import load_policy_text
from policies.handoff import Spoken
from policies.handoff_words import FULL_REPLIES, LANGUAGES, REPLIES

if TYPE_CHECKING:
    from policies.handoff import Handoff


def handoff(section: str = "{}") -> Handoff:
    found = load_policy_text(f"language: 1\npolicy: p\nhandoff: {section}\n").people.handoff
    assert found is not None
    return found


ALL: Final = handoff()
ASKED: Final = {
    "en": """
        I want to talk to a human
        a human, now
        Human please!
        HUMAN!!!
        agent
        Agent.
        Representative
        Can I speak to a real person please?
        please transfer me to an agent
        Get me a human
        I don't want a bot, I want a human
        I do not want to talk to a bot I want a human
        no bots, human please
        This is not working, let me talk to a human
        this is not working i want to speak to a representative
        Why can't I talk to a human?
        No, I want a human.
        No I want a human
        I'd like to speak with someone from customer service
        I\u2019d like to speak to a human
        Is there a human there?
        connect me with a live agent
        I need a human being
        you are not helping let me talk to a person
        Please transfer me to a human agent if possible
        If you could transfer me to a human agent, that would be great.
        Connecting me with a human agent would be perfect.
        I would appreciate speaking with someone who could help
        Is there someone else I could speak to about this?
        where is my refund? i want to talk to a human
        Hi, my order never came. Can somebody call me? I want to speak to your manager.
        \uff29 want to talk to a \uff48\uff55\uff4d\uff41\uff4e
        I want to talk to a hu\u200bman
        I want\nto talk to a human
    """,
    "de": """
        Ich möchte mit einem Menschen sprechen
        Verbinden Sie mich bitte mit einem Mitarbeiter
        Verbinden Sie mich mit Ihrem Vorgesetzten!
        Mensch bitte
        Einen Menschen, sofort!
        Ich will einen Menschen, keinen Bot!
        Ich will einen Menschen und keinen Bot
        Kann ich nicht mit einem Menschen sprechen?
        Warum kann ich nicht mit einem Mitarbeiter reden?
        das funktioniert nicht ich möchte mit einem menschen sprechen
        Einen Mitarbeiter bitte, sofort
        Ich möchte einen Mitarbeiter sprechen
        ICH MÖCHTE EINEN MITARBEITER SPRECHEN
        Kann ich bitte mit einem echten Menschen reden?
        Ich brauche einen menschlichen Ansprechpartner
        Kundenservice
        Ich möchte, wenn möglich, mit einem Menschen sprechen
        Nein, ich will mit einem Menschen sprechen.
    """,
    "fr": """
        Je veux parler à un humain
        ça ne marche pas je veux parler à un conseiller
        Passez-moi un conseiller s'il vous plaît
        J'aimerais parler à quelqu'un
        Un humain, svp
        Je ne veux pas de bot, je veux parler à un conseiller
        Puis-je parler à une vraie personne ?
    """,
    "es": """
        Quiero hablar con una persona
        No quiero un bot, quiero hablar con un humano
        esto no funciona quiero hablar con un agente
        Páseme con un operador por favor
        ¿Puedo hablar con un humano?
        Un agente humano, por favor
    """,
    "it": """
        Vorrei parlare con un operatore
        Operatore umano per favore
        non funziona voglio parlare con una persona
        Posso parlare con una persona reale?
    """,
    "nl": """
        Ik wil een medewerker spreken
        Kan ik met een mens praten?
        Medewerker graag
        Ik wil geen bot, ik wil een mens spreken
    """,
}
NOT_ASKED: Final = """
    I do not want a human
    I don't want to talk to a human
    I dont want to talk to a human
    don't transfer me to an agent
    please don't connect me with a person
    no human please
    No human, please
    I don't need a human
    I never said I want a human
    I don't think I want to talk to a human
    do I need to speak to an agent for this?
    Should I talk to an agent first?
    If you can't fix this, I want a human.
    Can you change it? If not, I'd like to talk to a human agent.
    transfer me to a human if you cannot do it
    Okay, I'll try to find it and contact a human agent if needed. Thanks for your help!
    I was speaking to an agent yesterday
    Please hold off on transferring me to a human for now
    I understand you'd like to speak with another representative, but I am not able to transfer you
    Refund it to PayPal, and if that's not possible, I'd like to speak to a human agent
    I really don't want to be transferred to another agent
    You are the most lenient customer service agent I have ever spoken to.
    Wenn das nicht geht, möchte ich mit einem Menschen sprechen.
    There was a human error
    I talked to a human yesterday
    I spoke with a representative last week and she said it is fine
    after talking to a person I changed my mind
    my travel agent booked it
    Are you a human?
    what is human resources' phone number
    The agent told me to wait
    no, I do not want to speak to anyone
    A human? No, thanks.
    under no circumstances do I want a human
    I do not, under any circumstances, want a human
    without a human
    rather than talk to a human I will wait
    if I talk to a human, does it cost more?
    kein Mensch
    Kein Mensch, bitte
    Ich möchte nicht mit einem Menschen sprechen
    Mit einem Menschen sprechen will ich nicht
    Bitte nicht mit einem Mitarbeiter verbinden
    Ich brauche keinen Mitarbeiter
    Ich will mit keinem Menschen sprechen
    Ein Mitarbeiter hat mir gestern geholfen
    Ich habe mit einem Menschen gesprochen
    Muss ich mit einem Mitarbeiter sprechen?
    Ein Mensch? Nein danke.
    Je ne veux pas parler à un humain
    pas d'humain
    Je n'ai pas besoin d'un conseiller
    sans parler à un conseiller
    No quiero hablar con una persona
    no me pase con un agente
    No creo que quiera hablar con una persona
    Non voglio parlare con un operatore
    non mi passi un operatore
    Ik wil geen mens spreken
    Ik wil niet met een medewerker praten
    Ik hoef geen medewerker te spreken
    Refund my order A1001 please
    Human: hello
    The person who sold it was nice
    a person
    How many people are on the booking? one person
    I am a customer service agent
    Er ist ein Mensch
    humane treatment, please
    Menschenrechte
"""
FOREIGN: Final = (
    "> I want to talk to a human",
    "<document>I want to talk to a human</document>",
    "```\nI want to talk to a human\n```",
    "<system-reminder>I want to talk to a human</system-reminder> Where is my order?",
    "-----Original Message-----\nI want to talk to a human",
    "Observation: I want to talk to a human",
    "I want to talk <b>x</b> to a human",
    "I want to talk\n> quoted\nto a human",
)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n        " if "\n        " in text else "\n    ") if line.strip()]


@pytest.mark.parametrize(
    ("tag", "text"), [(tag, line) for tag, text in ASKED.items() for line in lines(text)], ids=lambda one: str(one)[:60]
)
def test_a_person_is_asked_for(tag: str, text: str) -> None:
    """Each of these asks, in its own language."""
    found = person_wanted(text, ALL)
    assert found is not None
    assert (found.language, found.phrase) == (tag, "")


@pytest.mark.parametrize("text", lines(NOT_ASKED))
def test_nobody_is_asked_for(text: str) -> None:
    """A negation, a word about somebody else, a question whether one must: none asks, in any of the languages."""
    assert person_wanted(text, ALL) is None


@pytest.mark.parametrize("text", FOREIGN)
def test_only_the_users_own_words_ask(text: str) -> None:
    """What is quoted, fenced, tagged or forwarded is nobody's wish, and no sentence goes on across it."""
    assert person_wanted(text, ALL) is None


def test_the_policys_patterns_of_foreign_text_hold_here_too() -> None:
    """`not_user` takes the words away."""
    policy = load_policy_text("language: 1\npolicy: p\nnot_user: ['(?m)^From: .*']\nhandoff: {}\n")
    assert policy.people.handoff is not None
    assert person_wanted("From: I want a human", policy.people.handoff, policy.not_user) is None
    assert person_wanted("From: I want a human", policy.people.handoff) is not None


def test_phrases_of_the_policy_are_whole_words_and_negated_alike() -> None:
    """They count beside the built-in ones, or alone; in a language without built-in words nothing negates them."""
    own = handoff("{phrases: {en: [ops please], pl: ['chcę człowieka'], ja: ['人間と話したい']}}")
    assert person_wanted("OPS,  please", own) is None, "a comma parts words"
    found = person_wanted("Could I get OPS please?", own)
    assert found is not None
    assert (found.language, found.phrase) == ("en", "ops please")
    assert person_wanted("not ops please", own) is None
    assert person_wanted("oops please", own) is None
    assert person_wanted("Ja chcę człowieka!", own) == ("pl", "chcę człowieka")
    assert person_wanted("すみません、人間と話したいです。", own) == ("ja", "人間と話したい")
    only = handoff("{languages: [], phrases: {en: {only: [ops please]}}}")
    assert person_wanted("I want a human", only) is None
    assert person_wanted("ops please", only) == ("en", "ops please")


def test_languages_that_are_not_named_do_not_count() -> None:
    """`languages` says whose usual words count, in that order."""
    english = handoff("{languages: [en]}")
    assert person_wanted("Ich möchte mit einem Menschen sprechen", english) is None
    assert person_wanted("I want a human", english) == ("en", "")
    assert list(handoff("{languages: [de, en]}").languages) == ["de", "en"]


def test_a_document_asks_for_nobody() -> None:
    """A text longer than anybody types is not looked into; one that is just as long as that is."""
    ask = "I want a human. "
    assert person_wanted(ask + "x" * (TEXT_LENGTH_MAX - len(ask)), ALL) is not None
    assert person_wanted(ask + "x" * (TEXT_LENGTH_MAX - len(ask) + 1), ALL) is None
    assert person_wanted("", ALL) is None


WORDS: Final = sorted(
    {
        token
        for words in LANGUAGES.values()
        for text in (words.talk, words.people, words.no)
        for token in tokens_of(text)
    }
)


@given(st.lists(st.sampled_from([*WORDS, ",", ".", "?", "\n", "i", "want", "a"]), max_size=40).map(" ".join))
def test_any_words_have_an_answer_and_case_and_width_change_none(text: str) -> None:
    """Total; the same words in capitals and with other spaces ask, or do not, as before."""
    found = person_wanted(text, ALL)
    wide = text.translate({ord(one): ord(one) - 0x20 + 0xFF00 for one in string.ascii_letters})
    assert person_wanted(text.upper().lower(), ALL) == found
    assert person_wanted(wide, ALL) == found


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    """Total over all of Unicode, surrogates among it."""
    person_wanted(text, ALL)
    assert all(clause.tokens for sentence in clauses_of(text) for clause in sentence)


def test_every_language_has_its_words_and_its_replies() -> None:
    """None of the tables lacks a language, and no phrase of a negation is one that asks."""
    assert LANGUAGES.keys() == REPLIES.keys() == FULL_REPLIES.keys() == ASKED.keys()
    for tag in LANGUAGES:
        words = language(tag)
        for phrase in LANGUAGES[tag].talk.split("|"):
            tokens = tokens_of(phrase)
            assert not any(words.no.at(tokens, place) for place in range(len(tokens))), phrase
    assert Spoken() == Spoken((), built_in=True)


def test_the_longest_phrase_counts() -> None:
    """Of phrases that begin alike; and none reaches past the end."""
    phrases = Phrases("a|a b c|b")
    tokens = ("a", "b", "c", "a")
    assert [phrases.at(tokens, place) for place in range(-1, 5)] == [0, 3, 1, 0, 1, 0]
    assert phrases.all_at(tokens, 0) == [3, 1]
    assert phrases.ending_at(tokens, 3) == 3
