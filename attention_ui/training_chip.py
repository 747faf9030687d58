"""The sign in the sidebar that this visitor's model is training, with a button to stop it."""


def training_chip(on_training_page: bool) -> None:
    """Placeholder."""
