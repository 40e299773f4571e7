"""What the words of screens and reports mean to whoever decides: one source, for all that prints them.

They are in the file terms.toml; `explained` reads them, and finds the entry of a word in whatever form.
"""

from nbcfast.glossary.explained import Explanation, entry, page, terms_in, words

__all__ = ["Explanation", "entry", "page", "terms_in", "words"]
