import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { TestGateway } from './testing/test-gateway.js';

jest.setTimeout(60_000);

describe('a user that opens one connection to sandboxes too many', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ STREAMS_PER_USER: '2' });
  });
  afterAll(() => gateway?.close());

  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${gateway.gateway.metricsUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  it('is refused with a code, over sockets and requests together; another is not, and what ends makes room', async () => {
    const [greedy, modest] = [await gateway.grant(), await gateway.grant()];
    const headers = { authorization: `Bearer ${greedy.token}` };
    const held: Array<() => void> = [];
    gateway.upstream.handler = (_request, response) => {
      held.push(() => response.end('late'));
    };
    const socket = await gateway.socket(greedy.host, '/socket', headers);
    const waiting = gateway.ask(greedy, '/slow');
    await until('the sandbox was asked', () => held.length === 1);
    expect([
      await metric('sandbox_gateway_seats_open(?:{.*})?'),
      await metric('sandbox_gateway_seats_fullest{.*of="user".*}'),
    ]).toEqual([2, 2]);
    expect(await gateway.ask(greedy, '/one-more')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '10' },
      text: expect.stringContaining('stream.limit'),
    });
    await expect(gateway.socket(greedy.host, '/socket', headers)).rejects.toThrow('429');
    gateway.upstream.handler = (_request, response) => void response.end('ok');
    expect((await gateway.ask(modest)).status).toBe(200);
    held[0]?.();
    expect((await waiting).status).toBe(200);
    expect((await gateway.ask(greedy)).status).toBe(200);
    socket.terminate();
    await until('the socket has given its place back', async () => {
      const both = await Promise.all([gateway.ask(greedy), gateway.ask(greedy)]);
      return both.every(({ status }) => status === 200);
    });
  });
});
