"""What every room stands on: errors, numbers, threads, joint tables, new files."""
