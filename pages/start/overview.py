"""Overview: a real model reads a sentence; a small one; one row of a head carried through; and all matrices linked."""

from attention_ui.controls.pictures import chosen_picture
from attention_ui.page.first_screen import show_first_screen

picture = chosen_picture()
if picture == "model":
    show_first_screen()
else:
    from attention_ui.page.small_pictures import show_small_picture  # with torch, which the first screen does without

    show_small_picture(picture)
