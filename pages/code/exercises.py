"""Practice: can you write it yourself?"""

from attention_ui.contents import draw_topic
from attention_ui.page.drawer import show_drawer
from attention_ui.practice.exercise_view import chosen_exercise, exercise_panel
from attention_ui.practice.progress_view import progress_panel
from attention_ui.session import link_notes, show_notes
from lessons.code.exercises import every

draw_topic(every)
show_notes(*link_notes())
exercise_panel(chosen_exercise())
show_drawer("exercises", every.COMPARES, topic=every.TOPIC, more={"progress": progress_panel})
