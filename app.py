"""The server: what starts and stops with the process. Run it with `streamlit run app.py`."""

from contextlib import asynccontextmanager

from streamlit.starlette import App


@asynccontextmanager
async def lifespan(app: App):
    """Get everything ready before the first visitor comes, and end the training thread after the last."""
    from attention_ui.services import training_room, warm_up

    warm_up()
    yield
    training_room().stop()


app = App("attention_ui/frame.py", lifespan=lifespan)
