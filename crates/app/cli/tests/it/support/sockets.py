"""A server of WebSockets, by the library `websockets` in the version of Debian.

sockets.py PORT
"""
import asyncio
import http
import sys

from websockets.legacy.server import serve


async def handler(socket):
    path = socket.path
    if path.startswith("/ticks"):
        for n in range(5):
            await socket.send(f"tick {n}")
            await asyncio.sleep(0.005)
    async for message in socket:
        await socket.send(message)
        if path.startswith("/bye"):
            await socket.close(4001, "enough")


async def process(path, headers):
    if path.startswith("/no"):
        return http.HTTPStatus.FORBIDDEN, [], b"no\n"


async def main():
    port = int(sys.argv[1])
    async with serve(
        handler, "127.0.0.1", port, process_request=process, subprotocols=["chat.v2"]
    ):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
