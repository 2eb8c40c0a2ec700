// The least work of sending one message to many: POST → one synchronous append to a file → the same ready-made frame to
// each socket. argv: PORT FOLDER.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Duplex } from 'node:stream';

const [port = '0', folder = '.'] = process.argv.slice(2);
const file = await open(
  path.join(folder, 'log'),
  constants.O_CREAT | constants.O_RDWR | constants.O_APPEND | constants.O_DSYNC,
  0o600,
);
const sockets = new Set<Duplex>();

function textFrame(payload: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header[0] = 0x81;
  header[1] = 126;
  header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const line = Buffer.from(
      JSON.stringify({
        id: crypto.randomUUID(),
        timestamp: new Date().toISOString(),
        message: JSON.parse(Buffer.concat(chunks).toString()),
      }),
    );
    await file.write(Buffer.concat([line, Buffer.from('\n')]));
    const frame = textFrame(line);
    for (const socket of sockets) socket.write(frame);
    response.end('{"success":true}');
  });
});
server.on('upgrade', (_request, socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('close', () => sockets.delete(socket));
  sockets.add(socket);
  socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n');
  socket.write(textFrame(Buffer.from(JSON.stringify({ state: 'x'.repeat(200) }))));
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1');
