"""Hostile input for the program: see tests/hostile.py and tests/hostile_search.py."""
