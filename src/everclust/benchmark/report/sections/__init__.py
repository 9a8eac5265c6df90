"""The sections of the report, one function each."""
