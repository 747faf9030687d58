"""Lesson: can tokens attend with no weights at all?"""

import streamlit as st

from attention_core.captions import row_caption
from attention_core.lessons import attend_without_weights
from attention_ui.charts.chain import chain_columns, chain_table
from attention_ui.charts.grid import Matrix
from attention_ui.charts.maps import maps_columns, maps_table
from attention_ui.choices import asking_token, picked
from attention_ui.code_panel import code_panel
from attention_ui.contents import next_and_previous, opening
from attention_ui.example import current_trace
from attention_ui.lesson import grid_template, show_chart
from attention_ui.quiz import predict

opening("dot_product")
trace = current_trace()
tokens, x = trace.tokens, trace.x
n, d_model = x.shape
attention = attend_without_weights(x)
view = picked("view")

if view == "one":
    query = asking_token(trace)
    caption = row_caption(tokens, attention, query)
    table = chain_table(tokens, attention, query, ("x", "x", "x"))
    columns = chain_columns(d_model, d_model)
    st.latex(r"a_j = \mathrm{softmax}_j(x_i \cdot x_j), \qquad o_i = \sum_j a_j x_j")
else:
    caption = row_caption(tokens, attention, int(attention.weights.max(dim=-1).values.argmax()))
    maps = [
        Matrix("x", "X", x.tolist()),
        Matrix("scores", "X Xᵀ", attention.scores.tolist()),
        Matrix("weights", "softmax of each row", attention.weights.tolist(), "weight", "weight"),
        Matrix("output", "weights × X", attention.output.tolist()),
    ]
    table = maps_table(maps, tokens, tokens)
    columns = maps_columns([d_model, n, n, d_model])
    st.latex(rf"O = \mathrm{{softmax}}(X X^\top)\, X \qquad ({n}\times{n})\cdot({n}\times{d_model})")
st.text(caption)
chart = grid_template(columns)
show_chart("dot_product_figure", "Attention without weights", chart, {"cells": table}, alt=caption)

predict("dot_product", trace, 0)
code_panel(attention, 1.0, attend_without_weights)
next_and_previous("dot_product")
