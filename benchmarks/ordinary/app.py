"""The overview as one would write it first: a chart object for each matrix, default settings, a thread to train."""

import sys
import threading
from pathlib import Path

import altair as alt
import pandas as pd
import streamlit as st
import torch

sys.path.append(str(Path(__file__).parent.parent))
from notebook_loop import train_in_notebook

TOKENS = ["Your", "journey", "starts", "with", "one", "step"]
X = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)


def heatmap(title: str, matrix: torch.Tensor) -> alt.LayerChart:
    """A matrix in colours, with its numbers."""
    cells = [
        {"row": TOKENS[i], "column": j, "value": round(float(value), 2)}
        for i, line in enumerate(matrix)
        for j, value in enumerate(line)
        if torch.isfinite(value)
    ]
    base = alt.Chart(pd.DataFrame(cells)).encode(x=alt.X("column:O"), y=alt.Y("row:N", sort=TOKENS))
    squares = base.mark_rect().encode(color=alt.Color("value:Q", legend=None), tooltip=["row", "column", "value"])
    numbers = base.mark_text(fontSize=10).encode(text="value:Q")
    return (squares + numbers).properties(title=title, height=220)


def keep_training(progress: dict, steps: int, seed: int) -> None:
    """A free thread's work: the whole training, as fast as it can."""
    for step, loss in train_in_notebook(steps, seed):
        progress["step"] = step
        if loss is not None:
            progress["loss"] = loss


st.set_page_config(page_title="Attention", layout="wide")
st.title("What happens in attention, in one picture?")
with st.sidebar:
    d_k = st.slider("d_k", 1, 8, 2, key="d_k")
    d_v = st.slider("d_v", 1, 8, 2, key="d_v")
    seed = st.number_input("Seed", 0, 100_000, 42, key="seed")
    causal = st.toggle("Causal mask", True, key="causal")
    scaling = st.toggle("Scaling", True, key="scaling")
    if st.button("Start", key="start"):
        st.session_state.progress = {"step": 0, "loss": None}
        work = (st.session_state.progress, 5000, int(seed))
        threading.Thread(target=keep_training, args=work, daemon=True).start()
    if "progress" in st.session_state:
        st.text(f"Step {st.session_state.progress['step']}, loss {st.session_state.progress['loss']}")

torch.manual_seed(int(seed))
W_q, W_k, W_v = torch.randn(3, d_k), torch.randn(3, d_k), torch.randn(3, d_v)
Q, K, V = X @ W_q, X @ W_k, X @ W_v
scores = Q @ K.T
scaled = scores / d_k**0.5 if scaling else scores
mask = torch.tril(torch.ones(len(X), len(X)))
masked = scaled.masked_fill(mask == 0, float("-inf")) if causal else scaled
weights = torch.softmax(masked, dim=-1)
output = weights @ V

named = {"X": X, "Q": Q, "K": K, "V": V, "scores": scores, "scaled": scaled}
named |= {"masked": masked, "weights": weights, "output": output}
columns = st.columns(3)
for place, (title, matrix) in enumerate(named.items()):
    columns[place % 3].altair_chart(heatmap(title, matrix))
