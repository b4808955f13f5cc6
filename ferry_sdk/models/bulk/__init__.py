"""Long lists of records, validated column by column."""
