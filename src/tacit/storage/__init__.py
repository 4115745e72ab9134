"""Files that are ours: work folders, locks, chained logs, bounds on packed files."""
