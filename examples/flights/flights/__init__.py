"""A surface on real data: every flight that left New York City in 2013."""
