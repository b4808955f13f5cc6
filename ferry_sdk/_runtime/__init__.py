"""What several layers share: threads, forks, private files, amounts as text, the version."""
