"""/file/…: a file that a visit has asked for, straight from the disk. Streamlit would keep it in memory."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from attention_ui.server.languages import language_of_request
from words import speaking

AS_A_FILE = "application/octet-stream"  # whatever it is, a browser saves it and shows nothing of it


def answer_file(request: Request) -> Response:
    """The file with this token, or a sentence where there is none. Without `async`: it waits for the disk."""
    # With what the first page does without.
    from attention_ui.export.line import exports
    from lessons.screen import translate

    export = exports().found(request.path_params["token"])
    if export is None:
        with speaking(language_of_request(request)):
            gone = translate("This file is no longer here. Make it again on its page.")
        return PlainTextResponse(gone, 404, {"Cache-Control": "no-store"})
    headers = {
        "Content-Length": str(export.size),
        "Content-Disposition": f'attachment; filename="{export.name}"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(export.parts(), media_type=AS_A_FILE, headers=headers)
