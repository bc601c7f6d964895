// Nothing: the library that cargo makes has its allocator, and a second definition of it would be one too many.
