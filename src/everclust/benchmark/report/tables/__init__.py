"""Tables that several sections show."""
