"""The least that a page with a picture can be: eight bars, which Streamlit draws itself."""

import streamlit as st

WEIGHTS = [0.08, 0.80, 0.02, 0.01, 0.00, 0.05, 0.01, 0.02]
TOKENS = ["The", "cat", "sat", "on", "the_", "mat", "because", "it"]
CHART = {
    "mark": "bar",
    "encoding": {
        "x": {"field": "token", "type": "nominal", "sort": None},
        "y": {"field": "weight", "type": "quantitative"},
    },
    "usermeta": {"embedOptions": {"renderer": "svg"}},  # as in ours: painted the same way, and read by the benchmark
}

with st.container(key="chart"):
    st.vega_lite_chart([{"token": t, "weight": w} for t, w in zip(TOKENS, WEIGHTS, strict=True)], CHART)
