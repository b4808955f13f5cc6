"""What `ferry doctor` looks at."""
