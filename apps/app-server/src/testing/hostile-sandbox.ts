import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a hostile sandbox answers to every request. */
export type Hostility = 'endless' | 'large' | 'deep' | 'slow' | 'gzip-bomb' | 'huge-name' | 'breaks-off';

const PROGRAM = `
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
const kind = process.argv[1];
const item = JSON.stringify({ path: 'x'.repeat(60), status: 'ADDED' });
const list = (bytes) => '[' + Array(Math.floor(bytes / (item.length + 1))).fill(item).join(',') + ']';
const bodies = {
  large: () => list(1_900_000),
  deep: () => '['.repeat(1_000_000) + ']'.repeat(1_000_000),
  'huge-name': () => JSON.stringify([{ path: 'x'.repeat(1_900_000), status: 'ADDED' }]),
  'gzip-bomb': () => gzipSync('['.padEnd(200_000_000)),
};
const body = bodies[kind]?.();
const piece = Buffer.from((item + ',').repeat(500));
let asked = 0;
createServer((request, response) => {
  if (request.url === '/asked') return response.end(String(asked));
  asked += 1;
  if (body !== undefined) return response.writeHead(200, kind === 'gzip-bomb' ? { 'content-encoding': 'gzip' } : {}).end(body);
  response.writeHead(200).write('[');
  if (kind === 'slow') { const timer = setInterval(() => response.write(' '), 200); response.on('close', () => clearInterval(timer)); return; }
  if (kind === 'breaks-off') return setTimeout(() => response.destroy(), 50);
  const more = () => { while (!response.destroyed && response.write(piece)); };
  response.on('drain', more); more();
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** A real HTTP server in a process of its own, so that what it costs to be hostile is not measured. */
export async function startHostileSandbox(
  kind: Hostility,
): Promise<{ url: string; key: string; asked(): Promise<number>; close(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${String(port).trim()}`;
  return {
    url,
    key: 'k'.repeat(20),
    asked: async () => Number(await (await fetch(`${url}/asked`)).text()),
    close: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
