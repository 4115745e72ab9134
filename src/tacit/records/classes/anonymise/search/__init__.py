"""The searches: branch and bound on boxes, local search, and every node one by one."""
