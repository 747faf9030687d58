"""Practice: the class votes."""

from attention_ui.page.drawer import show_drawer
from attention_ui.voting.page import class_panel_of_visit
from lessons.class_vote import lesson as voted

class_panel_of_visit()
show_drawer("class_vote", None, topic=voted.TOPIC)
