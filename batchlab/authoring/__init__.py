"""What makes lessons: notebooks from sources, and every answer of a bank tried on the checks."""
