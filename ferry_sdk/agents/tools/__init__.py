"""Operations as tools, described to a model."""
