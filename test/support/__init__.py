"""Helpers that several test files share. There are no tests here."""
