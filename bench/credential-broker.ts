// What it costs that a broker stands between a sandbox and a host: beside a relay that ends TLS and does nothing else.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, createSecureContext, TLSSocket } from 'node:tls';
import { Winnowing } from '@slipway/net';
import { credential, type Origin, TestBroker } from '../apps/credential-broker/dist/testing/test-broker.js';
import { mitmproxyEnvironment, startMitmproxy } from './measure/mitmproxy.ts';
import { percentile, timeEach } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const HOST = 'api.example.com';
const REQUESTS = quick(4_000, 50);
const TOGETHER = quick(16, 2);
const TUNNELS = quick(300, 10);
const BYTES = quick(256, 4) * 1024 * 1024;
/** Less than what is compared at once. Bytes. */
const UPLOAD = quick(12, 1) * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'lorem ipsum ');
const JSON_BODY = JSON.stringify({ text: 'x'.repeat(1_000) });

type Open = () => Promise<Socket>;
/** `direct`: nothing between. `peer`: mitmproxy. */
type Ways = Readonly<Record<'direct' | 'relay' | 'broker', Open> & { peer?: Open }>;

export default async function run(report: Report): Promise<void> {
  const world = await TestBroker.start({ BROKER_CONNECTIONS_PER_SANDBOX: '10000' });
  const origin = await world.origin(HOST, (request, response) => {
    if (request.method === 'POST') request.once('end', () => response.end());
    else if (request.url === '/json') response.writeHead(200, { 'content-type': 'application/json' }).end(JSON_BODY);
    else {
      const type = request.url === '/text' ? 'text/plain' : 'application/octet-stream';
      void stream(response.writeHead(200, { 'content-type': type }));
    }
  });
  const relay = await startRelay(world, origin);
  await world.give(credential({ form: 'bearer', places: [{ host: HOST, port: origin.port }] }));
  const environment = await mitmproxyEnvironment();
  if ('missing' in environment) report.note(`mitmproxy is not measured. ${environment.missing}`);
  const peer = 'missing' in environment ? null : await startMitmproxy(environment, origin.port);
  const ways: Ways = {
    direct: () => secured(connect(origin.port, '127.0.0.1'), world.roots.cert),
    relay: () => secured(connect(relay.port, '127.0.0.1'), world.authority.cert),
    broker: () => world.secure({ host: HOST }),
    ...(peer === null ? {} : { peer: () => peer.open(HOST) }),
  };
  try {
    await warm(report, ways, origin);
    await fresh(report, ways, world, origin);
    for (const path of ['/bytes', '/text']) {
      const [through, beside] = [await rate(ways.broker, path, origin), await rate(ways.relay, path, origin)];
      report.figure({
        figure: `throughput${path.replace('/', '_')}`,
        value: through,
        unit: 'MB/s',
        floor: beside,
        n: 1,
      });
    }
    await uploads(report, world);
  } finally {
    relay.close();
    await peer?.stop();
    await world.close();
  }
}

/** Requests on a connection that is open. */
async function warm(report: Report, ways: Ways, origin: Origin): Promise<void> {
  const samples: Record<string, number[]> = {};
  for (const [name, open] of Object.entries(ways)) {
    const agent = agentOf(await open());
    samples[name] = await timeEach(REQUESTS, () => ask(agent, '/json', origin), 200);
    agent.destroy();
  }
  const at = (name: string, p: number): number => percentile(samples[name] ?? [], p);
  for (const p of [0.5, 0.99]) {
    const figure = { unit: 'ms', n: REQUESTS } as const;
    report.figure({
      ...figure,
      ...(ways.peer === undefined ? {} : { peer: at('peer', p) }),
      figure: `warm_p${p * 100}`,
      value: at('broker', p),
      floor: at('relay', p),
    });
    const [added, floor] = [at('broker', p) - at('direct', p), at('relay', p) - at('direct', p)];
    report.figure({ ...figure, figure: `warm_added_p${p * 100}`, value: added, floor });
  }
  const perSecond = async (open: Open): Promise<number> => {
    const agents = await Promise.all(Array.from({ length: TOGETHER }, async () => agentOf(await open())));
    const each = Math.ceil((REQUESTS * 2) / TOGETHER);
    const since = performance.now();
    await Promise.all(
      agents.map(async (agent) => {
        for (let count = 0; count < each; count += 1) await ask(agent, '/json', origin);
      }),
    );
    const elapsed = performance.now() - since;
    for (const agent of agents) agent.destroy();
    return (each * TOGETHER * 1000) / elapsed;
  };
  const [broker, relay] = [await perSecond(ways.broker), await perSecond(ways.relay)];
  const peer = ways.peer === undefined ? {} : { peer: await perSecond(ways.peer) };
  report.figure({ ...peer, figure: 'requests', value: broker, unit: '1/s', floor: relay, n: REQUESTS * 2 });
}

/** From nothing to the first answer. */
async function fresh(
  report: Report,
  { broker, relay }: Readonly<Record<'broker' | 'relay', Open>>,
  world: TestBroker,
  origin: Origin,
): Promise<void> {
  const first = (open: Open) => async (): Promise<void> => {
    const agent = agentOf(await open());
    await ask(agent, '/json', origin);
    agent.destroy();
  };
  const samples = {
    broker: await timeEach(TUNNELS, first(broker), 20),
    relay: await timeEach(TUNNELS, first(relay), 20),
  };
  for (const p of [0.5, 0.99])
    report.figure({
      figure: `tunnel_p${p * 100}`,
      value: percentile(samples.broker, p),
      floor: percentile(samples.relay, p),
      unit: 'ms',
      n: TUNNELS,
    });
  const handshake = (host: (index: number) => string) => async (index: number) =>
    void (await world.secure({ host: host(index) })).destroy();
  const made = await timeEach(
    TUNNELS,
    handshake((index) => `h${index}.example.com`),
    20,
  );
  const remembered = await timeEach(
    TUNNELS,
    handshake(() => HOST),
    20,
  );
  report.figure({
    figure: 'leaf_made_handshake_p50',
    value: percentile(made, 0.5),
    floor: percentile(remembered, 0.5),
    unit: 'ms',
    n: TUNNELS,
  });
}

/** Bodies that are compared with a workspace, beside bodies of a sandbox that says nothing of its own. */
async function uploads(report: Report, world: TestBroker): Promise<void> {
  const prints: number[] = [];
  new Winnowing(64, (print) => void prints.push(print)).push(randomBytes(UPLOAD / 16));
  const bytes = Buffer.from(Uint32Array.from(prints).buffer);
  const said = {
    window: 64,
    folders: ['src'],
    prints: bytes.toString('base64'),
    owners: Buffer.alloc(prints.length).toString('base64'),
    cut: false,
  };
  const body = randomBytes(UPLOAD / 2).toString('hex');
  const rates: number[] = [];
  for (const [conversation, answer] of [
    ['cnv_silent', null],
    ['cnv_said', said],
  ] as const) {
    world.control.prints = () => answer;
    const send = (text: string) =>
      world.ask({ host: HOST, method: 'POST', path: '/json', body: text, line: { conversation } });
    await send(body.slice(0, 1_000));
    // That of the silent one is asked for four times.
    if (answer === null) await sleep(3_000);
    const since = performance.now();
    await send(body);
    rates.push(UPLOAD / 1e6 / ((performance.now() - since) / 1000));
  }
  const [floor = 0, value = 0] = rates;
  report.figure({ figure: 'upload_compared', value, floor, unit: 'MB/s', n: 1 });
}

/** Megabytes a second of one download. */
async function rate(open: Open, path: string, origin: Origin): Promise<number> {
  const agent = agentOf(await open());
  const since = performance.now();
  const length = await ask(agent, path, origin);
  agent.destroy();
  return length / 1e6 / ((performance.now() - since) / 1000);
}

/** @returns the length of the answer. */
async function ask(agent: Agent, path: string, { port }: Origin): Promise<number> {
  const sent = httpRequest({ agent, path, setHost: false, headers: { host: `${HOST}:${port}` } });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
  });
  await once(response, 'end');
  return length;
}

function agentOf(socket: Socket): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => socket;
  return agent;
}

async function secured(socket: Socket, ca: string): Promise<Socket> {
  const secure = connectTls({ socket, ca, servername: HOST });
  await once(secure, 'secureConnect');
  secure.on('error', () => {});
  return secure;
}

async function stream(response: NodeJS.WritableStream): Promise<void> {
  for (let sent = 0; sent < BYTES; sent += CHUNK.length) if (!response.write(CHUNK)) await once(response, 'drain');
  response.end();
}

/** Ends TLS and speaks TLS to the host: what cannot be had for less in Node. */
async function startRelay(world: TestBroker, origin: Origin): Promise<{ readonly port: number; close(): void }> {
  const secureContext = createSecureContext({ ...(await world.authority.issue(HOST)) });
  const server = createServer({ noDelay: true }, (socket) => {
    const inside = new TLSSocket(socket, { isServer: true, secureContext });
    const outside = connectTls({ port: origin.port, host: '127.0.0.1', servername: HOST });
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      one.on('error', () => {}).once('close', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}
