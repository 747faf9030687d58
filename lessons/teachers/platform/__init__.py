"""Questions of the lessons for a learning platform, such as Moodle: `items` makes them, `gift` and `qti` write them."""
