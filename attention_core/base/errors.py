"""What is said of input that cannot be used: a template and its numbers, so that it can be said in other languages."""


class Phrase:
    """A text with names in braces, and what stands for them: numbers, texts, or phrases again."""

    def __init__(self, template: str, **arguments: object):
        self.template, self.arguments = template, arguments

    def __str__(self) -> str:
        return self.template.format(**self.arguments) if self.arguments else self.template


class InputError(Phrase, ValueError):
    """Input that cannot be used: what was expected, what came, and where it helps what to do."""


class TechnicalError(InputError):
    """Input of whoever writes a call or a file of a model: said in English alone, like the names in both."""
