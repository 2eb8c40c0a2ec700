import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { GracefulStop, type StopStep } from './graceful-stop.js';

/** Longest that anything here may take. Milliseconds; far above what it does. */
const SOON_MS = 5_000;

describe('GracefulStop', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /**
   * A server whose answers a test gives by hand, and a stop of it that ends in a number instead of the process's end.
   */
  async function open(drainSeconds: number) {
    const exits: number[] = [];
    const exited = Promise.withResolvers<number>();
    const stop = new GracefulStop({
      logger: createLogger('test', 'silent'),
      drainSeconds,
      exit: (code) => {
        exits.push(code);
        exited.resolve(code);
      },
    });
    const asked: ServerResponse[] = [];
    const waiting: Array<(response: ServerResponse) => void> = [];
    server = createServer((_request, response) => {
      asked.push(response);
      waiting.shift()?.(response);
    });
    stop.serve(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const nextRequest = (): Promise<ServerResponse> => new Promise((resolve) => waiting.push(resolve));
    return { stop, port, exits, exited: exited.promise, nextRequest };
  }

  function get(port: number): Promise<{ connection: string | undefined; body: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { port, host: '127.0.0.1', headers: { connection: 'keep-alive' } },
        (answer: IncomingMessage) => {
          let body = '';
          answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
          answer.once('end', () => resolve({ connection: answer.headers.connection, body }));
          answer.once('error', reject);
        },
      );
      sent.once('error', reject);
      sent.end();
    });
  }

  it(
    'serves new connections during the drain and asks each client to close; afterwards it takes none, and ends with 0',
    async () => {
      const { stop, port, exited, nextRequest } = await open(0.3);
      const drained: number[] = [];
      void stop.stop('SIGTERM', [stop.requests(1_000)], [{ name: 'sockets', run: (drainMs) => drained.push(drainMs) }]);
      expect(stop.stopping.aborted).toBe(true);
      const came = nextRequest();
      const answer = get(port);
      (await came).end('served');
      expect(await answer).toEqual({ connection: 'close', body: 'served' });
      expect(drained).toEqual([300]);
      expect(await exited).toBe(0);
      await expect(get(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    },
    SOON_MS,
  );

  it(
    'lets a request that is under way finish, ends connections that ask nothing at once',
    async () => {
      const { stop, port, exits, exited, nextRequest } = await open(0);
      const silent = connect(port, '127.0.0.1');
      await once(silent, 'connect');
      const came = nextRequest();
      const answer = get(port);
      const response = await came;
      void stop.stop('SIGTERM', [stop.requests(4_000)]);
      silent.resume();
      await once(silent, 'close');
      expect(exits).toEqual([]);
      response.end('finished');
      expect(await answer).toEqual({ connection: 'close', body: 'finished' });
      expect(await exited).toBe(0);
    },
    SOON_MS,
  );

  it(
    'breaks off what is still under way at the bound, after a last word',
    async () => {
      const { stop, port, exited, nextRequest } = await open(0);
      const came = nextRequest();
      const answer = get(port);
      const response = await came;
      response.write('begun, ');
      void stop.stop('SIGTERM', [stop.requests(400, () => response.end('broken off'))]);
      expect((await answer).body).toBe('begun, broken off');
      expect(await exited).toBe(0);
    },
    SOON_MS,
  );

  it(
    'cuts what does not even take a last word, and says by its exit that it was not clean',
    async () => {
      const { stop, port, exited, nextRequest } = await open(0);
      const came = nextRequest();
      const answer = get(port);
      await came;
      void stop.stop('SIGTERM', [stop.requests(300)]);
      await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(await exited).toBe(1);
    },
    SOON_MS,
  );

  it(
    'goes on with the next step when one fails or is late, and ends with 1',
    async () => {
      const { stop, exited } = await open(0);
      const done: string[] = [];
      const step = (name: string, run: StopStep['run']): StopStep => ({ name, withinMs: 50, run });
      await stop.stop('SIGTERM', [
        step('fails', () => Promise.reject(new Error('no'))),
        step('hangs', () => new Promise(() => {})),
        step('runs', () => done.push('ran')),
      ]);
      expect(done).toEqual(['ran']);
      expect(await exited).toBe(1);
    },
    SOON_MS,
  );
});
