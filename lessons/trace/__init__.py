"""How numbers came about, told from the computation itself: it runs once more on arrays that remember."""
