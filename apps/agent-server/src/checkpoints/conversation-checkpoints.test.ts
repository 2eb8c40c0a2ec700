import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { WorkspaceCheckpoints } from '../sandbox/workspace-checkpoints.js';
import { ConversationCheckpoints } from './conversation-checkpoints.js';

describe('checkpoints of a turn', () => {
  let server: Server;
  let asked = 0;
  beforeAll(async () => {
    // A tool process that fails at each capture.
    server = createServer((request, response) => {
      if (request.url?.startsWith('/checkpoint/capture') === true) asked += 1;
      response.writeHead(500).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('are captured once a minute between its steps, and whenever the agent stops; a tool process that fails is asked again', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const workspace = new WorkspaceCheckpoints(url, 'token');
    const checkpoints = new ConversationCheckpoints(
      'a',
      os.tmpdir(),
      workspace,
      2 ** 30,
      createLogger('test', 'silent'),
    );
    const start = 1_000_000;
    const after = async (work: () => void): Promise<number> => {
      work();
      await workspace.settled;
      return asked;
    };
    expect(await after(() => checkpoints.capture('rest', start))).toBe(0);
    checkpoints.follow({ lastEvent: () => 'event', captured: async () => {} }, start);
    expect(await after(() => checkpoints.stepEnded(start + 59_999))).toBe(0);
    expect(await after(() => checkpoints.stepEnded(start + 60_000))).toBe(1);
    expect(await after(() => checkpoints.stepEnded(start + 119_999))).toBe(1);
    expect(await after(() => checkpoints.capture('rest', start + 119_999))).toBe(2);
    expect(await after(() => checkpoints.stepEnded(start + 179_998))).toBe(2);
    expect(await after(() => checkpoints.stepEnded(start + 179_999))).toBe(3);
    checkpoints.follow(null);
    expect(await after(() => checkpoints.capture('rest'))).toBe(3);
  });
});
