"""A network camera for tests: pictures over HTTP on loopback, as JPEGs one after the other (MJPEG) or as an MPEG
transport stream, at a steady rate; it can be unplugged and plugged in again."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av
import cv2
import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
Draw = Callable[[float], U8]


class NetworkCamera:
    """``url("mjpeg")`` and ``url("ts")`` show ``draw(seconds since it was made)``; a context manager."""

    def __init__(self, draw: Draw, *, rate_hz: float = 25.0, port: int = 0) -> None:
        self.draw, self.rate_hz = draw, rate_hz
        self.begun_s = time.monotonic()
        self.plugged = threading.Event()
        self.plugged.set()
        self.viewers = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def url(self, kind: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{kind}"

    def __enter__(self) -> NetworkCamera:
        return self

    def __exit__(self, *error: object) -> None:
        self.plugged.clear()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        camera = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if not camera.plugged.is_set():
                    self.send_error(503)
                    return
                camera.viewers += 1
                try:
                    {"/mjpeg": camera._jpegs, "/ts": camera._stream}[self.path](self)
                except OSError:
                    pass  # the viewer has left
                finally:
                    camera.viewers -= 1

            def log_message(self, *words: object) -> None:
                pass

        return Handler

    def _next_picture(self) -> U8 | None:
        """The next picture, when it is due; None once the camera is unplugged."""
        time.sleep(1 / self.rate_hz)
        return self.draw(time.monotonic() - self.begun_s) if self.plugged.is_set() else None

    def _jpegs(self, to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("Content-Type", "multipart/x-mixed-replace; boundary=picture")
        to.end_headers()
        while (bgr := self._next_picture()) is not None:
            data = cv2.imencode(".jpg", bgr)[1].tobytes()
            head = f"--picture\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\n\r\n"
            to.wfile.write(head.encode() + data + b"\r\n")

    def _stream(self, to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("Content-Type", "video/mp2t")
        to.end_headers()
        with av.open(_Sink(to), "w", format="mpegts", options={"flush_packets": "1"}) as out:
            stream = None
            while (bgr := self._next_picture()) is not None:
                if stream is None:
                    options = {"preset": "ultrafast", "tune": "zerolatency", "g": "12"}
                    stream = out.add_stream("libx264", rate=round(self.rate_hz), options=options)
                    stream.height, stream.width = bgr.shape[:2]
                    stream.pix_fmt = "yuv420p"
                out.mux(stream.encode(av.VideoFrame.from_ndarray(bgr, format="bgr24")))


class _Sink(io.RawIOBase):
    """What PyAV writes to."""

    def __init__(self, to: BaseHTTPRequestHandler) -> None:
        self._to = to

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._to.wfile.write(data)
        return len(data)
