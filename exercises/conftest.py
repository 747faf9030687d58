"""An option for `pytest exercises`: the seed from which the cases are drawn."""


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, default=None, help="the seed of the cases; without it, another every time")
