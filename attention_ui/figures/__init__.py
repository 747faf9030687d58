"""Tensors in, charts out. No Streamlit, and no computation beyond placing numbers on the screen.

A chart is a template and a table. The template is an Altair chart, built once for each kind and size
and kept as a plain dictionary; the table is all that changes from one screen to the next.
"""
