"""A lesson in front of a class, prepared: stops, what is done at each, and what to ask and say.

`plan` is what a plan says, `plan_file` how it is written and read, `ready_made` those that come with the app, `notes`
what a teacher is told at each stop, `steps` what the next key does, and `own_question` a question of a teacher's own.
"""
