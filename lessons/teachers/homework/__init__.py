"""A plan as homework for one student: `stops` tells what is done at each stop and how far it is, by what `notes` keep;
`certificate` is the file that a student hands in, and `table` what a teacher makes of many.
"""
