"""Practice: worksheets with their keys, and plans for a lesson."""

from attention_ui.page.contents import draw_topic
from attention_ui.page.drawer import show_drawer
from attention_ui.practice.take_home_view import code_of_sheets, take_home_panel
from attention_ui.session.chart import show_notes
from attention_ui.session.links import link_notes
from lessons.take_home import sheet

draw_topic(sheet)
show_notes(*link_notes())
take_home_panel()
show_drawer("take_home", code_of_sheets(), topic=sheet.TOPIC)
