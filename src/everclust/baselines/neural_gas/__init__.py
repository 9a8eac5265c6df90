"""Growing neural gas and SOINN+."""
