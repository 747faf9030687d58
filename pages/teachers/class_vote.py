"""Practice: the class votes."""

from attention_ui.classroom.vote.page import class_panel_of_visit
from attention_ui.page.drawer import show_drawer
from lessons.teachers.class_vote import lesson as voted

class_panel_of_visit()
show_drawer("class_vote", None, topic=voted.TOPIC)
