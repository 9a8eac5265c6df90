"""CAE and CAEA: adaptive resonance with the correntropy-induced metric."""
