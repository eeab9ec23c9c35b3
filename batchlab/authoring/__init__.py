"""What makes lessons: notebooks from sources, and what their checks do."""
