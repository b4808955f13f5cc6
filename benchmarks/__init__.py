"""What the library costs beside a floor and its peers; `python -m benchmarks` prints it."""
