"""The paper's numbers, and how ours compare with them."""
