// agent-servers of fake pods: argv KUBECONFIG NAMESPACE PUBLIC_KEY CONTROL_PORT. Runs inside of a test cluster's
// network, where the addresses of all fake pods are local. Each pod has a real activation latch that verifies the real
// signature. CONTROL_PORT serves what happened to all of them: `/receipts`, `/faults`.
import http from 'node:http';
import { Latch } from '@slipway/sandbox/testing';
import { type FakePod, PodFollower } from './cluster-pod-follower.ts';

/** Which pods misbehave, by the order in which they got their addresses: 20 is every twentieth, 0 none. */
export interface PodFaults {
  /** They never say a word. */
  readonly silentEvery: number;
  /** Their process ends when it is activated, before it answers. */
  readonly dieEvery: number;
}

/** What one pod has seen, alive or not. */
export interface Receipt {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly address: string;
  /** It is no longer in the cluster. */
  readonly gone: boolean;
  readonly fault: 'silent' | 'dies' | null;
  /** The one claim that it accepted, and what came with it. */
  readonly claimId: string | null;
  readonly environment: Readonly<Record<string, string>> | null;
  /** Answers to activations that it did not take: 401 for one that was not meant for it, 409 for a second claim. */
  readonly refusals: readonly number[];
  readonly saved: boolean;
}

interface Server {
  readonly pod: FakePod;
  readonly latch: Latch;
  readonly fault: Receipt['fault'];
  readonly refusals: number[];
  dead: boolean;
  saved: boolean;
}

const AGENT_SERVER_PORT = 8000;
/** A tar that holds nothing, in a zstd frame of one raw block of no bytes. */
const NOTHING = Buffer.from('28b52ffd2000010000', 'hex');

const [kubeconfig = '', namespace = '', publicKey = '', control = '0'] = process.argv.slice(2);
const servers = new Map<string, Server>();
const byAddress = new Map<string, Server>();
let faults: PodFaults = { silentEvery: 0, dieEvery: 0 };

const follower = new PodFollower(kubeconfig, namespace, (pod) => {
  const known = servers.get(pod.uid);
  if (known !== undefined || pod.address === null) return;
  const order = servers.size;
  const every = (count: number, phase: number): boolean => count > 0 && order % count === phase;
  const fault = every(faults.silentEvery, 0) ? 'silent' : every(faults.dieEvery, 1) ? 'dies' : null;
  const latch = new Latch({ slotId: pod.slotId, podUid: pod.uid, publicKey }, '/workspace');
  const server: Server = { pod, latch, fault, refusals: [], dead: false, saved: false };
  servers.set(pod.uid, server);
  // An address is given again: it is the last pod's that got it.
  byAddress.set(pod.address, server);
});

const agentServers = http.createServer((request, response) => {
  const server = byAddress.get(request.socket.localAddress ?? '');
  const pod = server === undefined ? undefined : follower.get(server.pod.uid);
  if (server === undefined || pod === undefined || server.dead || server.fault === 'silent')
    return void request.socket.destroy();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(server, request, response, Buffer.concat(chunks).toString('utf8')));
});
// As agent-server.
agentServers.keepAliveTimeout = 65_000;
agentServers.listen(AGENT_SERVER_PORT, '0.0.0.0');

function answer(server: Server, request: http.IncomingMessage, response: http.ServerResponse, body: string): void {
  const call = `${request.method} ${request.url?.replace(/^\/api\/archive\/.*/, '/api/archive')}`;
  if (call === 'GET /api/init') json(response, 200, server.latch.state());
  else if (call === 'POST /api/init' && server.fault === 'dies') die(server, request);
  else if (call === 'POST /api/init') {
    const { status, body: state } = server.latch.activate(request.headers.authorization, body);
    if (status !== 200) server.refusals.push(status);
    json(response, status, state);
  } else if (call === 'GET /server_info') json(response, 200, { idle_time: 0 });
  else if (call === 'GET /api/archive') {
    server.saved = true;
    response.writeHead(200, { 'content-type': 'application/zstd' }).end(NOTHING);
  } else if (call === 'PUT /api/archive') response.writeHead(204).end();
  else json(response, 404, {});
}

/** As a container does that is killed; the kubelet, missing on a fake node, would report it. */
function die(server: Server, request: http.IncomingMessage): void {
  server.dead = true;
  request.socket.destroy();
  void follower.fail(server.pod);
}

http
  .createServer((request, response) => {
    if (request.url === '/receipts') return json(response, 200, [...servers.values()].map(receiptOf));
    if (request.url !== '/faults' || request.method !== 'POST') return json(response, follower.synced ? 200 : 503, {});
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8');
    });
    request.on('end', () => {
      faults = JSON.parse(body) as PodFaults;
      json(response, 200, faults);
    });
  })
  .listen(Number(control), '0.0.0.0');

function receiptOf({ pod, latch, fault, refusals, saved }: Server): Receipt {
  const { env = {} } = latch.body === null ? {} : (JSON.parse(latch.body) as { env?: Record<string, string> });
  return {
    name: pod.name,
    uid: pod.uid,
    node: pod.node,
    address: pod.address ?? '',
    gone: follower.get(pod.uid) === undefined,
    fault,
    claimId: latch.claimId,
    environment: latch.claimId === null ? null : env,
    refusals,
    saved,
  };
}

function json(response: http.ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

await follower.run();
