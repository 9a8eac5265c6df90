"""TableDC and G-CEALS: the baselines that need PyTorch."""
