"""Arrays, errors, random numbers: what every formula stands on."""
