"""What programs print about their progress, one data file for each, and how it is read. Knows no job and no place."""
