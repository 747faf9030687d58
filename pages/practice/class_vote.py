"""Practice: the class votes."""

from attention_ui.voting.page import class_panel_of_visit

class_panel_of_visit()
