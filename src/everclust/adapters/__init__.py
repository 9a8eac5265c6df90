"""everclust inside other systems: river and Apache Spark."""
