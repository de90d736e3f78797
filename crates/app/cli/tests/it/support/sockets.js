// A server of WebSockets, by the library `ws` in the version of Debian: sockets.js PORT
const { createServer } = require("node:http");
const { WebSocketServer } = require("/usr/share/nodejs/ws");

const server = createServer((request, response) => response.writeHead(404).end());
const sockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: { threshold: 0 },
  handleProtocols: (offered) => (offered.has("chat.v2") ? "chat.v2" : false),
});

server.on("upgrade", (request, socket, head) => {
  if (request.url.startsWith("/no")) {
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  sockets.handleUpgrade(request, socket, head, (opened) => serve(opened, request.url));
});

function serve(socket, path) {
  if (path.startsWith("/ticks")) {
    for (let n = 0; n < 5; n += 1) setTimeout(() => socket.send(`tick ${n}`), 5 * n);
  }
  socket.on("message", (message, binary) => {
    socket.send(message, { binary });
    if (path.startsWith("/bye")) socket.close(4001, "enough");
  });
}

server.listen(Number(process.argv[2]), "127.0.0.1");
