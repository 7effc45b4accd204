"""The Explore page's desk: solves in slices of time, public states as data, ranges."""
