"""What is taken home: notebooks and paper."""
