"""How Java reads and writes values, as Spark expressions over whole columns.

`kernel.java` has the same for single values; tests compare the two with Java's own.
May import the kernel, the envelope, and what columns share.
"""
