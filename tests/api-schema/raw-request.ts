import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** 0 when the connection ended without an answer. */
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A connection on which nothing is put right on the way. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // That the server ends it is what some of these are about.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/**
 * Sends bytes as they are and reads what is answered until the server ends the connection, or `waitMs` after the last
 * byte.
 */
export async function sendRaw(url: string, bytes: string | Buffer, waitMs = 3_000): Promise<RawAnswer[]> {
  const socket = await openSocket(url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.setTimeout(waitMs, () => socket.destroy());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(bytes);
  await closed;
  return answersIn(Buffer.concat(chunks).toString('latin1'));
}

/** Answers one behind the other, as their lengths say. */
function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest.startsWith('HTTP/1.1 '); ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) break;
    const head = rest.slice(0, end);
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? rest.length - end - 4);
    answers.push({
      status: Number(head.slice(9, 12)),
      type: /^content-type: *([^;\r]*)/im.exec(head)?.[1] ?? '',
      body: rest.slice(end + 4, end + 4 + length),
    });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}
