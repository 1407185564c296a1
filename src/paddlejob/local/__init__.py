"""A PaddleJob on this machine: the same decisions, each pod a process group, no cluster and no root needed."""
