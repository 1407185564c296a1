"""Where a job lives: on a cluster or on this machine. What both can be asked, and how a job starts here."""
