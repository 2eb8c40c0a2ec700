// A sandbox and the runtime-api that knows it: argv PORT [ADDRESS [LISTENS_ON]]. GET /sessions/… says where it is, /big
// answers 100 MB, a WebSocket opens and says nothing, all else is answered with a short text.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const [port = '0', address = '127.0.0.1', listensOn = address] = process.argv.slice(2);
const PIECE = Buffer.alloc(1024 * 1024, 0x78);
const PIECES = 100;
const runtime = {
  runtime_id: 'bench',
  session_id: 'bench',
  url: `http://${address}:${port}`,
  session_api_key: 'bench-session-key',
  status: 'running',
  pod_status: 'ready',
  restart_count: 0,
  restart_reasons: [],
  working_dir: '/workspace',
  work_hosts: {},
};
const server = createServer((request, response) => {
  if (request.url?.startsWith('/sessions/')) return void response.end(JSON.stringify(runtime));
  if (request.url === '/big') {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': PIECE.length * PIECES });
    let sent = 0;
    const more = (): void => {
      while (sent < PIECES) {
        sent += 1;
        if (!response.write(PIECE)) return void response.once('drain', more);
      }
      response.end();
    };
    return more();
  }
  request
    .resume()
    .once('end', () => response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 5 }).end('hello'));
});
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.on('error', () => socket.destroy()).resume();
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), listensOn);
