// Answers `/api/init` for every fake pod of a test cluster: argv PORT KUBECONFIG NAMESPACE PUBLIC_KEY, run inside the cluster's network. Connections to any fake pod arrive
// here; whose it is says the address that was called, and the API server knows which slot and which pod that is.
import http from 'node:http';
import https from 'node:https';
import { fromKubeconfig } from '@slipway/sandbox/adapters/kubernetes';
import { Latch } from '@slipway/sandbox/testing';

interface RawPods {
  readonly items: ReadonlyArray<{
    readonly metadata: { readonly uid: string; readonly labels?: Readonly<Record<string, string>>; readonly deletionTimestamp?: string };
  }>;
}

const [port = '8000', kubeconfig = '', namespace = '', publicKey = ''] = process.argv.slice(2);
const access = await fromKubeconfig(kubeconfig);
const { tls, authorization } = await access.credentials();
const agent = new https.Agent({ ...tls, keepAlive: true, maxSockets: 16 });
const latches = new Map<string, Promise<Latch | null>>();

async function latchOf(address: string): Promise<Latch | null> {
  const known = latches.get(address) ?? readPod(address);
  latches.set(address, known);
  const latch = await known.catch(() => null);
  if (latch === null) latches.delete(address);
  return latch;
}

async function readPod(address: string): Promise<Latch | null> {
  const path = `/api/v1/namespaces/${namespace}/pods?fieldSelector=status.podIP%3D${address}`;
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { accept: 'application/json', ...(authorization === null ? {} : { authorization }) };
    https
      .get(new URL(path, access.server), { agent, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          body += part;
        });
        response.on('end', () => resolve(body));
      })
      .on('error', reject);
  });
  const pod = (JSON.parse(text) as RawPods).items.find((item) => item.metadata.deletionTimestamp === undefined);
  const slotId = pod?.metadata.labels?.['slipway.dev/slot'];
  return pod === undefined || slotId === undefined ? null : new Latch({ slotId, podUid: pod.metadata.uid, publicKey }, '/workspace');
}

const server = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    void latchOf((request.socket.localAddress ?? '').replace('::ffff:', '')).then((latch) => {
      const answer =
        latch === null || request.url !== '/api/init'
          ? { status: 503, body: {} }
          : request.method === 'POST'
            ? latch.activate(request.headers.authorization, Buffer.concat(chunks).toString('utf8'))
            : { status: 200, body: latch.state() };
      const text = JSON.stringify(answer.body);
      response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
    });
  });
});
// As agent-server.
server.keepAliveTimeout = 65_000;
server.listen(Number(port), '0.0.0.0', () => console.log('listening'));
