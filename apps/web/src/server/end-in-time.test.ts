import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** A server that waits for its connections as Next's does. */
const SERVER = (file: string): string => `
  import { createServer } from 'node:http';
  const { endInTime } = await import(${JSON.stringify(file)});
  endInTime(100);
  const server = createServer().listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.on('SIGTERM', () => server.close(() => process.exit(143)));
`;

describe('the end of web', () => {
  it('comes although a browser holds a connection on which it has sent nothing', async () => {
    const file = path.join(import.meta.dirname, 'end-in-time.ts');
    const child = spawn(process.execPath, ['--input-type=module', '-e', SERVER(file)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [port] = (await once(child.stdout, 'data')) as [Buffer];
      const silent = connect(Number(port.toString()), '127.0.0.1').on('error', () => {});
      await once(silent, 'connect');
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).toEqual([143, null]);
      silent.destroy();
    } finally {
      child.kill('SIGKILL');
    }
  });
});
