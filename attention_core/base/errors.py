"""Errors for input that cannot be used: a template and its values, so that the sentence can be translated."""


class Phrase:
    """A text with names in braces, and a value for each name: a number, a text, or another phrase."""

    def __init__(self, template: str, **arguments: object):
        self.template, self.arguments = template, arguments

    def __str__(self) -> str:
        return self.template.format(**self.arguments) if self.arguments else self.template


class InputError(Phrase, ValueError):
    """An error for input that cannot be used: what was expected, what was given and, where it helps, what to do."""


class TechnicalError(InputError):
    """An InputError about a call or a model file: its sentence stays in English, like the names in both."""
