"""The least that a page with a slider can be: what a key press costs when nothing is drawn."""

import streamlit as st

with st.sidebar:
    d_k = st.slider("d_k", 1, 8, 2, key="d_k")
with st.container(key="value"):
    st.text(f"d_k = {d_k}")
