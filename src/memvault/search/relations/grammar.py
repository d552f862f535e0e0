"""Reads terms and relations from a parsed question.

Terms are question words, nouns and names; every path of the dependency tree between two terms is a
relation. English only, like the trained pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memvault.search.relations.question import (
    ANYTHING,
    BARE_QUESTION_WORDS,
    PERSON_WORDS,
    Question,
    Relation,
    Term,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SPEAKER = frozenset((
    "i", "we", "me", "us", "my", "our", "you", "your", "myself", "ourselves"
))  # fmt: skip
_SUBJECTS = ("nsubj", "nsubjpass")
_CLAUSES = ("relcl", "acl", "advcl")
_VERB_MODIFIERS = ("prt", "neg", "advmod", "acomp", "oprd", "xcomp")
_NOUN_MODIFIERS = ("det", "poss", "amod", "compound", "nummod")
_BEFORE_NOUN = ("compound", "amod", "nmod")
_NO_CONTENT = ("auxpass", "aux", "punct", "det", "cc")


class Grammar:
    """Reads one parsed question; ``names`` maps tokens to the nodes that they name."""

    def __init__(self, doc: Doc, names: Mapping[int, tuple[str, ...]]) -> None:
        self._doc = doc
        self._names = names
        self._head = {token.i: token.head.i for token in doc}
        self._correct_heads()
        self._children: dict[int, list[int]] = {token.i: [] for token in doc}
        for child, head in self._head.items():
            if child != head:
                self._children[head].append(child)
        self._terms: list[Term] = []
        self._term_at: dict[int, int] = {}  # terms by token

    def read(self) -> Question:
        """The terms and relations of the question."""
        for token in self._doc:
            term = self._term(token)
            if term is not None:
                self._term_at[token.i] = len(self._terms)
                self._terms.append(term)
        if not self._terms:
            return Question((), (), 0)
        root = self._root()
        return Question(tuple(self._terms), tuple(self._relations(root)), root)

    # -- heads ----------------------------------------------------------------------------------

    def _correct_heads(self) -> None:
        """Move clauses to the noun they describe if the parser attached them to another word."""
        for token in self._doc:
            if token.tag_ == "WP$" and token.head.dep_ in (*_SUBJECTS, "dobj", "pobj"):
                self._reattach_whose(token)
            if token.lemma_ == "have" and token.pos_ in ("VERB", "AUX"):
                self._move_parts_of_have(token)

    def _swap(self, child: int, head: int) -> None:
        """Put the child in its head's place, and the head below it."""
        if self._head[head] != head:
            self._head[child], self._head[head] = self._head[head], child

    def _reattach_whose(self, whose: Token) -> None:
        """*grants whose head works there*: the head belongs to the grants, the clause to it."""
        noun = whose.head
        clause = next((a for a in noun.ancestors if a.dep_ in (*_CLAUSES, "ccomp")), None)
        if clause is not None and noun in clause.subtree:
            self._swap(noun.i, clause.i)

    def _move_parts_of_have(self, verb: Token) -> None:
        """*have a man of the match who …*, *has its home in …*: these parts describe the object."""
        term = next((child for child in verb.children if child.dep_ == "dobj"), None)
        for child in verb.children:
            if term is not None and child.dep_ in ("prep", *_CLAUSES) and child.i > term.i:
                self._head[child.i] = term.i

    # -- terms ---------------------------------------------------------------------------------

    def _term(self, token: Token) -> Term | None:
        """The term that a word is; None for one that is part of a relation or of another term."""
        lower_word = token.lower_
        if token.i in self._names:
            return Term(token.i, lower_word, nodes=self._names[token.i])
        if lower_word in _SPEAKER or self._is_determiner(token) or self._is_relative(token):
            return None
        if lower_word in PERSON_WORDS:
            word = lower_word if lower_word.startswith("who") else None
            return Term(token.i, "person", person=True, question_word=word)
        if lower_word in ANYTHING:
            return Term(token.i, lower_word)
        if (
            token.tag_ in ("WP", "WRB", "WDT")
            and lower_word in BARE_QUESTION_WORDS
            and token.dep_ != "det"
        ):
            return Term(token.i, lower_word, question_word=lower_word)
        if token.pos_ in ("NOUN", "PROPN"):
            return None if self._belongs_to_next(token) else self._noun(token)
        return None

    def _noun(self, token: Token) -> Term:
        preceding = self._doc[max(0, token.i - 5) : token.i]
        question_word = next(
            (
                word.lower_
                for word in preceding
                if self._is_determiner(word)
                and word.lower_ != "whose"
                and self._noun_after(word) == token.i
            ),
            None,
        )
        modifiers = tuple(
            child.text
            for child in token.children
            if child.dep_ in _BEFORE_NOUN
            and child.i < token.i
            and child.i not in self._names
            and child.pos_ in ("NOUN", "PROPN", "ADJ", "VERB")
        )
        return Term(
            token.i,
            token.lemma_.lower(),
            modifiers,
            question_word=question_word,
            bare=token.dep_ == "pobj" and token.tag_ == "NN" and not _is_modified(token),
        )

    def _belongs_to_next(self, token: Token) -> bool:
        """Whether a noun only modifies the noun after it."""
        head = token.head
        return (
            token.dep_ in _BEFORE_NOUN
            and head.pos_ in ("NOUN", "PROPN")
            and head.i not in self._names
            and head.i > token.i
        )

    def _is_relative(self, token: Token) -> bool:
        """Whether a word only refers to the noun before its clause."""
        return (
            token.i > 0
            and token.tag_ in ("WDT", "WP", "WRB", "WP$", "IN", "DT")
            and token.lower_ in ("who", "whom", "which", "that", "where", "when", "whose")
            and any(a.dep_ in ("relcl", "acl") for a in (token, *token.ancestors))
        )

    def _is_determiner(self, token: Token) -> bool:
        """*Which city*, *what old tool*: the word only asks about the noun that follows."""
        if token.lower_ not in ("which", "what", "whose"):
            return False
        for following in self._doc[token.i + 1 : token.i + 5]:
            if following.pos_ in ("NOUN", "PROPN"):
                return following.i not in self._names
            if not _is_modifier(following):
                return False
        return False

    def _noun_after(self, determiner: Token) -> int:
        """The last noun of the noun phrase that follows."""
        last_noun = -1
        for following in self._doc[determiner.i + 1 : determiner.i + 6]:
            if following.pos_ in ("NOUN", "PROPN") and following.i not in self._names:
                last_noun = following.i
            elif not _is_modifier(following):
                break
        return last_noun

    # -- relations ------------------------------------------------------------------------------

    def _root(self) -> int:
        """The term asked for: the first with a question word, else the first without a name."""
        terms = list(enumerate(self._terms))
        with_question_word = [k for k, term in terms if term.question_word]
        unnamed = [k for k, term in terms if not term.named]
        return (with_question_word or unnamed or [0])[0]

    def _relations(self, root: int) -> list[Relation]:
        """Walk outward over the tree and relate each term to the one before it."""
        neighbours: dict[int, set[int]] = {token.i: set() for token in self._doc}
        for child, head in self._head.items():
            if child != head:
                neighbours[child].add(head)
                neighbours[head].add(child)
        start = self._terms[root].token
        relations: list[Relation] = []
        visited = {start}
        queue: list[tuple[int, int, tuple[int, ...]]] = [(start, root, ())]
        while queue:
            token, origin, path = queue.pop(0)
            for neighbour in sorted(neighbours[token] - visited):
                visited.add(neighbour)
                if neighbour in self._term_at:
                    term = self._term_at[neighbour]
                    relations.append(self._relation(origin, term, path))
                    queue.append((neighbour, term, ()))
                else:
                    queue.append((neighbour, origin, (*path, neighbour)))
        return relations

    def _relation(self, near: int, far: int, path: tuple[int, ...]) -> Relation:
        """The relation of two terms, stated by the words on the path between them."""
        tokens = set(path).union(*(self._companions(i) for i in path))
        words = [
            token
            for token in (self._doc[i] for i in sorted(tokens))
            if token.dep_ not in _NO_CONTENT and not self._is_relative(token)
        ]
        near_term, far_term = self._terms[near], self._terms[far]
        text = " ".join(word.text for word in words)
        if (
            far_term.token in self._children[near_term.token]
            and self._doc[far_term.token].dep_ == "poss"
        ):
            text = "of"
        if not words and any(self._doc[k].tag_ == "WP$" for k in self._children[far_term.token]):
            text = "whose"
        lemmas = (word.lemma_.lower() for word in words if word.pos_ in ("VERB", "NOUN", "ADJ"))
        return Relation(near, far, text, frozenset(lemmas))

    def _companions(self, verb: int) -> set[int]:
        """The words that belong to a word of the path but are not on it.

        These are particles, negations, adverbs, stranded prepositions and the speaker.
        """
        companions = set()
        for child in self._children[verb]:
            token = self._doc[child]
            is_modifier = (
                token.dep_ in _VERB_MODIFIERS
                and child not in self._term_at
                and not self._is_relative(token)
            )
            is_stranded = token.dep_ == "prep" and not self._children[child]
            is_speaker = token.lower_ in ("i", "we") and token.dep_ == "nsubj"
            if is_modifier or is_stranded or is_speaker:
                companions.add(child)
        return companions


def _is_modifier(token: Token) -> bool:
    return token.pos_ in ("ADJ", "NUM") or token.dep_ in ("compound", "amod")


def _is_modified(noun: Token) -> bool:
    """Whether a noun has an article, an adjective or another word before it."""
    return any(child.dep_ in _NOUN_MODIFIERS for child in noun.children)
