"""Models learnt apart become one: docs/merging.md."""
