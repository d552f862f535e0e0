"""How well the tokens of a passage fit those of a question: late interaction.

As in ColBERT (Khattab and Zaharia, 2020), each token has the vector that the model gives it in its
context, and a passage fits as well as the tokens of the question find a near token in it, on
average. Of a passage's tokens only the signs of random projections are kept, 16 bytes each, which
tell the cosine well enough (Charikar, *Similarity estimation techniques from rounding algorithms*,
2002). For unit vectors q and x and g drawn from a normal distribution,

    E[(q . g) sign(x . g)] = sqrt(2 / pi) cos(q, x)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from memvault.text.words import STOP_WORDS

BITS = 128  # projections of a token's vector
_BYTES = BITS // 8
_SEED = 0
_WORD_MARKS = "▁Ġ"  # with which some vocabularies begin a word

Floats = npt.NDArray[np.float32]


def projection(dimension: int) -> Floats:
    """(dimension, BITS), drawn from the standard normal distribution; always the same."""
    # RandomState, since its numbers are the same in all versions of NumPy.
    numbers = np.random.RandomState(_SEED).standard_normal((dimension, BITS))
    return numbers.astype(np.float32)


class TokenSigns:
    """Keeps the content tokens of texts as signs.

    Args:
        tokenizer: of the model, whose tokens that are function words or punctuation are left out.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        vocabulary = tokenizer.get_vocab(with_added_tokens=True)
        special = set(tokenizer.get_added_tokens_decoder())
        self._is_content = np.zeros(max(vocabulary.values()) + 1, bool)
        for token, number in vocabulary.items():
            word = token.lstrip(_WORD_MARKS)
            is_word = any(map(str.isalnum, word)) and word.casefold() not in STOP_WORDS
            self._is_content[number] = is_word and number not in special

    def content(self, window: Sequence[int], projected: Floats, prompt_tokens: int = 0) -> Floats:
        """The projections of a window's content tokens, (k, BITS); of all tokens of its text if
        none is a content token.

        Args:
            window: token ids, a special one at each end.
            projected: (len(window), BITS).
            prompt_tokens: the number of tokens in front of the text that are not part of it.
        """
        of_text = slice(1 + prompt_tokens, len(window) - 1)
        is_content = self._is_content[np.asarray(window[of_text], np.intp)]
        rows = projected[of_text]
        return rows[is_content] if is_content.any() else rows

    def packed(self, window: Sequence[int], projected: Floats, prompt_tokens: int = 0) -> bytes:
        """The signs of a window's content tokens, `BITS` bits each."""
        rows = self.content(window, projected, prompt_tokens)
        return np.packbits(rows > 0.0, axis=1).tobytes()


def fit(question: Floats, signs: bytes) -> float:
    """The mean of the question's tokens' greatest cosines to tokens of a text, about [0, 1].

    Args:
        question: (k, BITS), the projections of its tokens' unit vectors.
        signs: of the text, see `TokenSigns.packed`; may be joined from several texts.
    """
    if not len(question) or not signs:
        return 0.0
    bits = np.unpackbits(np.frombuffer(signs, np.uint8).reshape(-1, _BYTES), axis=1)
    products = question @ (bits.T.astype(np.float32) * 2.0 - 1.0)
    return float(products.max(axis=1).mean()) * math.sqrt(math.pi / 2.0) / BITS
