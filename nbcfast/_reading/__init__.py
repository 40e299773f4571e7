"""How tables are read: files of every ending, and streams of batches."""
