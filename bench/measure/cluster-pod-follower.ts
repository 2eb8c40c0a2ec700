import { readFileSync } from 'node:fs';
import https from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';

export interface FakePod {
  readonly name: string;
  readonly uid: string;
  readonly slotId: string;
  readonly node: string;
  /** `null` before it has one. */
  readonly address: string | null;
}

interface ContainerStatus {
  readonly state?: { readonly running?: object };
}

/** As the API server has it. */
export interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

const RETRY_MS = 200;

/** The pods of a namespace as an administrator sees them, listed and watched again whenever the API server is away. */
export class PodFollower {
  synced = false;
  private closed = false;
  private readonly pods = new Map<string, FakePod>();
  private readonly server: string;
  private readonly agent: https.Agent;

  private readonly namespace: string;
  private readonly onPod: (pod: FakePod, object: PodObject) => void;

  /** @param kubeconfig a file of JSON whose user has a client certificate. `onPod`: a pod is new or has changed. */
  constructor(kubeconfig: string, namespace: string, onPod: (pod: FakePod, object: PodObject) => void) {
    this.namespace = namespace;
    this.onPod = onPod;
    const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
      clusters: { cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const cluster = config.clusters[0]?.cluster ?? {};
    const user = config.users[0]?.user ?? {};
    const decode = (text = ''): Buffer => Buffer.from(text, 'base64');
    this.server = cluster['server'] ?? '';
    const ca = decode(cluster['certificate-authority-data']);
    this.agent = new https.Agent({
      ca,
      cert: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
      keepAlive: true,
    });
  }

  get(uid: string): FakePod | undefined {
    return this.pods.get(uid);
  }

  /** Ends after `close`, or with the process. */
  async run(): Promise<void> {
    while (!this.closed) {
      await this.listAndWatch().catch(() => {});
      await wait(RETRY_MS);
    }
  }

  close(): void {
    this.closed = true;
    this.agent.destroy();
  }

  /** Says in the kubelet's place that the pod's main process was killed. Never rejects. */
  async fail({ name }: FakePod): Promise<void> {
    const end = { exitCode: 137, reason: 'Error', signal: 9, startedAt: null, finishedAt: new Date().toISOString() };
    const status = {
      phase: 'Failed',
      containerStatuses: [
        { name: 'agent-server', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated: end } },
      ],
    };
    await this.request('PATCH', `/${name}/status`, { status })
      .then((response) => response.resume())
      .catch(() => {});
  }

  private async listAndWatch(): Promise<void> {
    let text = '';
    for await (const chunk of await this.request('GET', '')) text += String(chunk);
    const list = JSON.parse(text) as { metadata: { resourceVersion: string }; items: PodObject[] };
    const there = new Set(list.items.map(({ metadata }) => metadata.uid));
    for (const uid of this.pods.keys()) if (!there.has(uid)) this.pods.delete(uid);
    for (const pod of list.items) this.take(pod);
    this.synced = true;
    let rest = '';
    for await (const chunk of await this.request(
      'GET',
      `?watch=true&resourceVersion=${list.metadata.resourceVersion}`,
    )) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: PodObject };
        if (type === 'ERROR') return;
        if (type === 'DELETED') this.pods.delete(object.metadata.uid);
        else this.take(object);
      }
    }
  }

  private take({ metadata, spec, status }: PodObject): void {
    const slotId = metadata.labels?.['slipway.dev/slot'] ?? '';
    const pod = {
      name: metadata.name,
      uid: metadata.uid,
      slotId,
      node: spec.nodeName ?? '',
      address: status.podIP ?? null,
    };
    this.pods.set(pod.uid, pod);
    this.onPod(pod, { metadata, spec, status });
  }

  private request(method: string, rest: string, body?: object): Promise<AsyncIterable<Buffer> & { resume(): unknown }> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/merge-patch+json' };
      const url = `${this.server}/api/v1/namespaces/${this.namespace}/pods${rest}`;
      const request = https.request(url, { method, agent: this.agent, headers }, (response) => {
        if (response.statusCode === 200) return resolve(response.setEncoding('utf8'));
        response.resume();
        reject(new Error(`${method} ${rest}: ${response.statusCode}`));
      });
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
