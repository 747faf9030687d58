"""Practice: can you write it yourself?"""

from attention_ui.contents import opening
from attention_ui.exercise_view import chosen_exercise, exercise_panel
from attention_ui.lesson import show_notes
from attention_ui.links import link_notes
from attention_ui.panels.drawer import show_drawer
from attention_ui.progress_view import progress_panel
from lessons.exercises import every

opening(every)
show_notes(*link_notes())
exercise_panel(chosen_exercise())
show_drawer("exercises", every.COMPARES, heading=every.HEADING, more={"progress": progress_panel})
