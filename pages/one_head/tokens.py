"""Lesson: what goes in?"""

from attention_ui.page.tokens_page import show_tokens

show_tokens()
