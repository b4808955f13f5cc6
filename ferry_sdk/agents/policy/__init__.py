"""What a model may do: budgets, approvals, duplicates, the audit."""
