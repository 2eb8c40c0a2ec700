import { type EventEmitter, once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenedCredential } from '@slipway/contracts/credentials';
import { until } from '@slipway/testing';
import { credential, LINE, type Origin, TestBroker } from './testing/test-broker.js';

const HOST = 'api.example.com';

describe('a change of credentials', () => {
  let world: TestBroker;
  let origin: Origin;
  let token: OpenedCredential;
  const open: Array<{ request: IncomingMessage; response: ServerResponse }> = [];
  beforeAll(async () => {
    world = await TestBroker.start();
    origin = await world.origin(HOST, (request, response) => {
      if (request.url === '/open') {
        open.push({ request, response });
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).write('begun');
      } else response.end('hello');
    });
  });
  beforeEach(async () => {
    open.length = 0;
    token = credential({ form: 'bearer', places: [{ host: HOST, port: origin.port }] });
    await world.give(token);
  });
  afterEach(async () => {
    world.control.away = false;
    world.control.ttlMs = 60_000;
    await until('changes are heard', () => world.control.listeners > 0);
  });
  afterAll(() => world?.close());
  const sent = () => origin.seen.at(-1)?.headers.authorization;

  it('is not needed for what is remembered, and one question answers all who wait', async () => {
    world.control.asked.length = 0;
    await Promise.all([1, 2, 3, 4].map(() => world.ask({ host: HOST })));
    await world.ask({ host: HOST });
    expect(world.control.asked).toEqual([
      { claim: LINE.claim, org: LINE.org, conversation: LINE.conversation, host: HOST, port: origin.port },
    ]);
    await world.ask({ host: HOST, line: { conversation: 'cnv_2' } });
    expect(world.control.asked).toHaveLength(2);
  });

  it('(B14) gives the next request the new value', async () => {
    await world.ask({ host: HOST });
    expect(sent()).toBe(`Bearer ${token.value}`);
    await world.give({ ...token, value: 'rotated-value-1234' });
    await world.ask({ host: HOST });
    expect(sent()).toBe('Bearer rotated-value-1234');
  });

  it('(B14) while a question is on its way is asked about again: the old answer is used by nobody', async () => {
    world.control.asked.length = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    world.control.held = promise;
    const asking = [world.ask({ host: HOST })];
    await until('it is asked', () => world.control.asked.length === 1);
    const before = origin.seen.length;
    world.say({ ...token, value: 'rotated-value-5678' });
    // Once the change is heard nobody waits for the old answer any more.
    await until('it is asked again', () => {
      asking.push(world.ask({ host: HOST }));
      return world.control.asked.length > 1;
    });
    world.control.held = null;
    resolve();
    for (const { status } of await Promise.all(asking)) expect(status).toBe(200);
    const values = new Set(origin.seen.slice(before).map(({ headers }) => headers.authorization));
    expect([...values]).toEqual(['Bearer rotated-value-5678']);
  });

  it.each([
    ['removed', () => []],
    [
      'moved to another path',
      () => [{ ...token, use: { ...token.use, places: [{ ...placeOf(token), paths: ['/x'] }] } }],
    ],
  ] as Array<[string, () => OpenedCredential[]]>)(
    '(B13) cuts within a second an answer whose credential is %s',
    async (_name, next) => {
      const answering = await begin();
      const cut = closed(answering);
      const upstream = closed(open[0]?.response as ServerResponse);
      const since = performance.now();
      world.say(...next());
      await Promise.all([cut, upstream]);
      expect(performance.now() - since).toBeLessThan(1_000);
    },
  );

  it('(B13) leaves open what may go on: of another organization, or with another value', async () => {
    const answering = await begin();
    world.control.asked.length = 0;
    world.say({ ...token, value: 'rotated-value-9999' });
    world.control.change('org_2');
    await until('it is asked about', () => world.control.asked.some(({ host }) => host === HOST));
    // The answer to that is used for this one too.
    await world.ask({ host: HOST });
    expect(sent()).toBe('Bearer rotated-value-9999');
    open[0]?.response.end(' and ended');
    const chunks: string[] = [];
    for await (const chunk of answering) chunks.push(String(chunk));
    expect(chunks.join('')).toBe('begun and ended');
  });

  it('that cannot be asked about cuts what is open: nothing goes on that may have ended', async () => {
    const answering = await begin();
    const cut = closed(answering);
    world.control.away = true;
    world.control.change(LINE.org);
    await cut;
  });

  it('(E20) cannot be missed: without app-server nothing new passes, and 503 says when to ask again', async () => {
    await world.ask({ host: HOST });
    const before = origin.seen.length;
    world.control.away = true;
    world.control.lose();
    await until('what was remembered is forgotten', async () => (await world.ask({ host: HOST })).status === 503);
    const answer = await world.ask({ host: HOST });
    expect(answer).toMatchObject({ status: 503, code: 'credential.undecided', headers: { 'retry-after': '5' } });
    const after = origin.seen.length;
    await world.ask({ host: HOST });
    expect(origin.seen.length).toBe(after);
    expect(after - before).toBeLessThanOrEqual(1);
    world.control.away = false;
    await until('it passes again', async () => (await world.ask({ host: HOST })).status === 200);
  });

  it('is not waited for longer than app-server lets an answer be remembered', async () => {
    world.control.ttlMs = 0;
    await world.give(token);
    await until('the change was heard', async () => {
      world.control.asked.length = 0;
      await world.ask({ host: HOST });
      await world.ask({ host: HOST });
      return world.control.asked.length === 2;
    });
  });

  /** An answer that has begun. */
  async function begin(): Promise<IncomingMessage> {
    const socket = await world.secure({ host: HOST });
    const request = httpRequest({
      createConnection: () => socket,
      setHost: false,
      path: '/open',
      headers: { host: `${HOST}:${origin.port}` },
    });
    request.on('error', () => {});
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    await until('it has begun', () => open.length === 1);
    return response;
  }
});

/** However it ends. */
const closed = (stream: EventEmitter): Promise<void> => new Promise((resolve) => stream.once('close', () => resolve()));

const placeOf = ({ use }: OpenedCredential) => {
  const [place] = use.places;
  if (place === undefined) throw new Error('it has a place');
  return place;
};
