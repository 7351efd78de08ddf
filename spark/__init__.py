"""PySpark jobs on captured traffic; imports `mappings` only."""
