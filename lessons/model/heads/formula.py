"""The formula of several heads, with the sizes of the moment filled in."""

from lessons.model.heads.example import HeadsTrace, SideBySide
from lessons.shared.formulas import A, K, Q, V


def heads_formula(trace: SideBySide) -> str:
    """LaTeX for the whole way through several heads, with the shape of every tensor."""
    n, h, d_head, d_value = len(trace.tokens), trace.n_heads, trace.d_head, trace.d_value
    scale = rf"/\sqrt{{{d_head}}}" if trace.scale != 1 else ""
    head = rf"{A}_i = \mathrm{{softmax}}({Q}_i {K}_i^\top {scale})"
    heatmaps, parts, whole = (small_shape(*axes) for axes in ((h, n, n), (h, n, d_head), (n, h * d_head)))
    values, found = small_shape(h, n, d_value), small_shape(n, h * d_value)
    if not isinstance(trace, HeadsTrace):
        return rf"{head}\,{heatmaps} \qquad {A}_i {V}_i\,{values}"
    outer = small_shape(n, trace.x.shape[-1])
    if not trace.usual_sizes:
        return (
            rf"\small X\,{outer} \to {Q},{K}\,{whole},\;{V}\,{found} \to {Q}_i,{K}_i\,{parts},\;{V}_i\,{values}"
            rf" \to {head}\,{heatmaps} \to {A}_i {V}_i\,{values} \to \mathrm{{Concat}}\,{found} \to O\,{outer}"
        )
    return (
        rf"\small X\,{whole} \to {Q},{K},{V}\,{whole} \to {Q}_i,{K}_i,{V}_i\,{parts}"
        rf" \to {head}\,{heatmaps} \to {A}_i {V}_i\,{parts} \to \mathrm{{Concat}}\,{whole} \to O\,{whole}"
    )


def small_shape(*axes: int) -> str:
    """A shape beside a tensor, in LaTeX."""
    return r"{\scriptstyle " + r"\times".join(map(str, axes)) + "}"
