"""Speed, as ratios against peers that do the same work in the same run."""
