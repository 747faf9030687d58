"""What helps with an error of PyTorch or Python, beside its own words; what to write where the page lacks a name."""

import re

from lessons.screen import Message, message

HELP = (  # in the words of PyTorch or Python, and what helps
    (
        r"must be Tensor, not (int|float)",
        message("This function takes a tensor. For a number there is `math`: math.sqrt, math.exp."),
    ),
    (
        r"math range error",
        message(
            "exp(1000) is more than a computer can hold. Subtract the largest score from all of them first: no weight "
            "changes."
        ),
    ),
    (
        r"shapes cannot be multiplied|batch2 tensor to be|size mismatch, got input|inconsistent tensor size",
        message("In A @ B, A must have as many columns as B has rows. Should one be transposed, or the order changed?"),
    ),
    (
        r"Sizes of tensors must match|stack expects each|Tensors must have same number",
        message("Tensors that are joined must agree in all other axes. Print the shapes before this line."),
    ),
    (
        r"size of tensor a .* must match",
        message(
            "Sizes must be equal, or one of them 1: for + and * in all axes, for @ in those before the last "
            "two. Is keepdim=True missing from a sum, or should other axes be exchanged?"
        ),
    ),
    (
        r"view size is not compatible",
        message("view needs the numbers in this order in memory: use reshape, or contiguous() before view."),
    ),
    (
        r"got float|element of type float|'float' object cannot be interpreted",
        message("A size is a whole number: divide with //."),
    ),
    (
        r"NoneType|still None",
        message("Something is still None: a step is not written yet, or a function lacks its return."),
    ),
    (
        r"boolean mask|operator\.invert|bitwise_\w+_cpu|boolean tensor|used as indices",
        message("A mask holds True and False: make it with .bool(), or with a comparison."),
    ),
    (r"index -?\d+ is out of bounds", message("Counting begins at 0: n entries have the numbers 0 to n − 1.")),
    (r"Dimension out of range", message("There is no such axis. dim=-1 is the last, whatever the number of axes.")),
    (
        r"can't be cast to the desired output type|without overflow",
        message("This tensor holds whole numbers. Make it floating-point: torch.zeros, .float()."),
    ),
    (
        r"same dtype|same scalar type",
        message("One of the tensors holds whole numbers or booleans. Make it floating-point with .float()."),
    ),
    (
        r"Module.__init__\(\) call|_backward_hooks|has no attribute '_modules'",
        message("Call super().__init__() at the beginning of __init__."),
    ),
    (
        r"return_types\.",
        message("max along an axis gives two tensors: the values and their indices. Take .values, or use amax."),
    ),
    (
        r"is invalid for input of size",
        message("A view has as many numbers as before. Multiply its sizes: is the product the same?"),
    ),
    (r"dims|permute", message("permute names every axis once.")),
    (
        r"TabError|IndentationError",
        message("In Python, the spaces at the start of a line matter. Use four for each level, and no tabs."),
    ),
    (
        r"must be a 3D tensor|must be a matrix|1D tensors expected",
        message("This function takes tensors with a fixed number of axes. @ takes any."),
    ),
    (
        r"ambiguous|converted to Python scalar|converted to Scalar",
        message("A tensor of several numbers cannot be used as a single number. Use where, masked_fill or an index."),
    ),
    (
        r"SyntaxError",
        message(
            "Python cannot read this line. Look for a bracket, a quote or a colon, and for text copied "
            "along by mistake."
        ),
    ),
    (r"NameError", message("Nothing has this name yet. Is it spelt as in its definition?")),
    (r"RecursionError", message("A function calls itself endlessly.")),
    (r"yourself", message("That function is missing here on purpose: write it yourself.")),
    (r"should be nn\.Linear", message("The weights of the cases are put into these four layers.")),
    (r"NotReady: return", message("Return all of these, in this order, separated by commas.")),
    (r"should be a tensor; it is a list", message("Make it a tensor: torch.tensor(…), or torch.stack of the rows.")),
    (r"nothing in your code is called", message("Keep the name and the arguments that the exercise begins with.")),
)
INSTEAD = {  # of what the page lacks, what does the same
    "numpy": "math, torch",
    "Tensor.numpy": "x.tolist()",
    "Tensor.half": "x.float()",
    "Tensor.bfloat16": "x.float()",
    "torch.multinomial": "torch.cumsum",
    "torch.linalg": "torch.matmul",
    "collections": "list, dict",
    "random": "torch.rand",
    "einops": "x.view, x.permute",
    "torch.polar": "torch.cos, torch.sin",
    "torch.complex": "torch.stack",
    "torch.view_as_complex": "x[..., 0], x[..., 1]",
    "torch.view_as_real": "torch.stack",
    "scipy": "torch.softmax",
}


def help_with(said: str) -> tuple[Message, ...]:
    """What helps with an error, if that is known."""
    return next(((helps,) for words, helps in HELP if re.search(words, said)), ())


def what_instead(name: str) -> tuple[Message, ...]:
    """What to write instead of a name that PyTorch has and the page lacks. It is no fault and counts as no try."""
    if "backward" in name or "grad" in name:
        return (
            message(
                "This page computes no gradients: write the formula of the gradient yourself. This does not "
                "count as a try."
            ),
        )
    if name in INSTEAD:
        instead = INSTEAD[name]
        return (
            message(
                "This page lacks {name}. That is not your fault, and it does not count as a try. Use {instead}.",
                name=name,
                instead=instead,
            ),
        )
    return (
        message(
            "This page lacks {name}. That is not your fault, and it does not count as a try. Write it with "
            "+, *, @, sums or loops.",
            name=name,
        ),
    )
