"""A server of event streams, by the HTTP server of Python's library.

events.py PORT
"""
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        number = lambda name: int(query.get(name, ["0"])[0])
        chunks = "chunks" in query
        self.protocol_version = "HTTP/1.1" if chunks else "HTTP/1.0"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if chunks:
            self.send_header("Transfer-Encoding", "chunked")
        self.coder = zlib.compressobj(wbits=31) if "gzip" in query else None
        if self.coder:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        for n in range(number("n")):
            time.sleep(number("ms") / 1000)
            event = f"event: tick\r\nid: {n}\r\ndata: {n}\r\ndata: \u00e9\r\n\r\n".encode()
            # Two writes, cut within the line ends.
            for part in [event[:-1], event[-1:]]:
                self.write(part, chunks)
        self.write(query.get("last", [""])[0].encode(), chunks)
        if self.coder and "cut" not in query:
            self.send(self.coder.flush(), chunks)
        if chunks and "cut" not in query:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = not chunks or "cut" in query

    def write(self, part, chunks):
        if self.coder:
            part = self.coder.compress(part) + self.coder.flush(zlib.Z_SYNC_FLUSH)
        self.send(part, chunks)

    def send(self, part, chunks):
        if chunks and part:
            part = b"%x\r\n%b\r\n" % (len(part), part)
        self.wfile.write(part)
        self.wfile.flush()

    def log_message(self, *_):
        pass


ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
