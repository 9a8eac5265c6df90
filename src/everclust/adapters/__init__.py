"""everclust inside other systems: river and Apache Spark. Each module needs an extra of its own."""
