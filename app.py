"""The server: what starts and stops with the process. Run it with `streamlit run app.py`."""

import asyncio
from contextlib import asynccontextmanager

from streamlit.starlette import App


@asynccontextmanager
async def lifespan(app: App):
    """Get everything ready while the first visitor's browser loads, and end the training thread after the last."""
    warming = asyncio.create_task(asyncio.to_thread(get_ready))
    yield
    await warming
    from attention_ui.services import training_room

    training_room().stop()


def get_ready() -> None:
    """Import what takes seconds to import, and warm it up."""
    from attention_ui.services import warm_up

    warm_up()


app = App("attention_ui/frame.py", lifespan=lifespan)
