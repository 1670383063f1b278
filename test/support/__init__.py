"""What several test files share: no test lives here."""
