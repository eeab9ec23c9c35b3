"""A stream of documents that knows what was read of it.

lengths  ->  documents, their numbers, and what is wrong with a row of them
"""

__all__ = ["Source"]


class Source:
    """A stream that counts what is read of it; document n is [n, 7, 7, ...], or all are alike."""

    def __init__(self, lengths, alike):
        self.lengths, self.alike, self.numbers = list(lengths), alike, []

    def document(self, number):
        length = self.lengths[number]
        return [7 if self.alike else number, *[7] * length][:length]

    def read(self, number):
        while number < len(self.lengths):
            self.numbers.append(number)
            yield self.document(number)
            number += 1

    def named(self, row):
        """The documents of a row: their numbers, or their lengths where all are alike."""
        if any(not hasattr(document, "__len__") for document in row):
            raise RuntimeError("a row is a list of whole documents, not one list of tokens")
        return [len(one) if self.alike else one[0] for one in row]

    def changed(self, row):
        """Words if a row holds other documents than were read."""
        if all(type(one) is list and (self.alike or one == self.document(one[0])) for one in row):
            return ""
        return "documents come out changed: give out the lists that were read"
