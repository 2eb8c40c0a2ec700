// Requests with made-up keys, at the given rate: argv PORT ORIGIN PER_SECOND. GET / says {"sent":n,"answered":n}. It
// reads no more of an answer than that there is one.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';

const [port = '0', origin = '', perSecond = '0'] = process.argv.slice(2);
const { hostname, port: to } = new URL(origin);
const CONNECTIONS = 50;
const TICK_MS = 5;
const ANSWER = Buffer.from('HTTP/1.1 ');
const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'x'.repeat(400) }] });
let sent = 0;
let answered = 0;

const request = (): string => {
  const key = `slp_llm_${createHash('sha256').update(randomBytes(8)).digest('base64url')}`;
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${to}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};
// Made ahead: the flood's own cost is not what is measured.
const requests = Array.from({ length: 2_000 }, request);

const sockets: Array<Socket | null> = Array.from({ length: CONNECTIONS }, () => null);
function open(index: number): void {
  const socket = connect(Number(to), hostname);
  socket.setNoDelay(true);
  socket.on('data', (bytes) => {
    for (let at = bytes.indexOf(ANSWER); at !== -1; at = bytes.indexOf(ANSWER, at + 1)) answered += 1;
  });
  socket.on('connect', () => {
    sockets[index] = socket;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    sockets[index] = null;
    setTimeout(() => open(index), 10);
  });
}
const began = performance.now();
if (Number(perSecond) > 0) {
  for (let index = 0; index < CONNECTIONS; index += 1) open(index);
  setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1_000) * Number(perSecond)) - sent;
    const ready = sockets.filter((socket): socket is Socket => socket !== null && socket.writableLength < 65_536);
    if (ready.length === 0) return;
    // What could not be sent is not made up for by a wave.
    const now = Math.min(due, (Number(perSecond) * TICK_MS * 4) / 1_000);
    for (let index = 0; index < now; index += 1) {
      ready[index % ready.length]?.write(requests[(sent + index) % requests.length] ?? '');
    }
    sent += Math.max(0, now);
  }, TICK_MS);
}
createServer((_, response) =>
  response.end(JSON.stringify({ sent, answered, seconds: (performance.now() - began) / 1_000 })),
).listen(Number(port), '127.0.0.1');
