"""SR-PCM-HDP: possibilistic c-means."""
