#!/usr/bin/env python3
"""Serves a folder of static files on this machine and prints its address.
usage: tools/serve.py FOLDER [PORT]"""
import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map,
                      ".wasm": "application/wasm", ".js": "text/javascript", ".mjs": "text/javascript"}

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")  # pages set the rest of the policy themselves, but cannot set this
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_):
        pass


def server(folder, port=0):
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=folder))


def main(folder, port="8000"):
    try:
        serving = server(folder, int(port))
    except (OSError, ValueError, OverflowError) as error:
        print(f"tools/serve.py: port {port}: {error}", file=sys.stderr)
        return 2
    print(f"http://127.0.0.1:{serving.server_port}/ (stop with ctrl-c)", flush=True)
    try:
        serving.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
