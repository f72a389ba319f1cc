"""How Java reads and writes values: numbers, text, dates, regular expressions, hash order.

Plain Python, one value at a time; `columns.java` has the same as Spark expressions.
May import the kernel's data and errors.
"""
