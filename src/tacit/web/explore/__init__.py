"""The Explore page's desk: solves in slices of time, data of public states, and ranges."""
