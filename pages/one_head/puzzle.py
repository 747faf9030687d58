"""Practice: can you set the weights yourself?"""

from attention_ui.practice.build_view import show_build

show_build()
