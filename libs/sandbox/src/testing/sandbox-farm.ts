import { randomUUID } from 'node:crypto';
import type { SandboxProblem } from '../sandbox-backend.js';
import { listenAlso, serveJson } from './http.js';
import { Latch } from './latch.js';

/** What a farm says whose store is away. */
export const STORE_AWAY = 'The store of workspaces, bucket missing, answered with 404 (NoSuchBucket).';
export const SILENT = 'The sandbox does not answer, so its workspace cannot be saved yet.';

interface FarmedSandbox {
  readonly uid: string;
  /** Of its own address; null when it shares the farm's. */
  readonly own: { readonly port: number; readonly close: () => void } | null;
  readonly latch: Latch;
  ended: string | null;
  /** The claim that was noted on it from outside. */
  note: string | null;
}

/** One sandbox as `/backend/` reports it. */
export interface FarmedState {
  readonly name: string;
  readonly uid: string;
  readonly port: number | null;
  readonly ended: string | null;
  readonly pending: { readonly message: string; readonly problem?: SandboxProblem } | null;
  readonly avoid: string | null;
}

/** What happened to sandboxes, in order; tests read it to find a broken invariant. */
export type FarmEvent =
  | { readonly kind: 'created' | 'removed'; readonly name: string; readonly uid: string }
  | { readonly kind: 'activated'; readonly name: string; readonly uid: string; readonly claimId: string }
  | { readonly kind: 'refused'; readonly name: string; readonly status: number };

/**
 * One HTTP server that plays any number of sandboxes: `/backend/…` is what a cluster's API would be,
 * `/sandboxes/<name>/api/init` is each sandbox's agent-server. It runs outside the runtime-api under test, so sandboxes
 * survive that one's death. No work runs in them.
 */
export class SandboxFarm {
  readonly history: FarmEvent[] = [];
  readonly sandboxes = new Map<string, FarmedSandbox>();
  readonly workspaces = new Set<string>();
  /** Sandboxes that do not answer, as after a network cut. */
  readonly unreachable = new Set<string>();
  /** Sandboxes that should not be given out any more, with the reason, as on a cordoned node. */
  readonly avoided = new Map<string, string>();
  /** What is in the way of a sandbox before it runs; `null`: nothing. */
  inTheWay: (name: string) => { readonly message: string; readonly problem?: SandboxProblem } | null = () => null;
  /** The sandbox dies instead of answering its activation. */
  diesWhenActivated: (name: string) => boolean = () => false;
  /** What every sandbox says of how long it has had nothing to do. */
  idleSeconds = 0;
  /** `/backend/` answers nothing but 503, as an API server that is away; sandboxes go on. */
  away = false;
  /** Workspaces of used sandboxes cannot be kept. */
  storeAway = false;
  /** No sandbox says whose it is, and no owner can be recorded on one. */
  silent = false;
  /** What the workspace of a used sandbox takes in the store when it is kept. Bytes; `null`: there is no store. */
  workspaceBytes: number | null = null;
  /** Called in the middle of each request to `/backend/`, and of each activation (`init`), before it takes effect. */
  beforeEffect: (call: string, body: Readonly<Record<string, string>>) => Promise<void> = async () => {};
  url = '';
  private server: Awaited<ReturnType<typeof serveJson>> | undefined;
  private readonly listeners = new Set<() => void>();

  /**
   * @param publicKey SPKI DER, base64.
   * @param portEach every sandbox listens on a port of its own, as in reality: a connection to one is of no use for
   * another.
   */
  constructor(
    private readonly publicKey: string,
    private readonly portEach = false,
  ) {}

  async start(port = 0): Promise<this> {
    const server = await serveJson(port, async (method, url, request, body) => {
      const [, area, name = '', ...rest] = url.split('/');
      if (area === '') return { status: 200, body: { sandboxes: this.sandboxes.size } };
      if (area === 'backend') {
        const fields = body === '' ? {} : (JSON.parse(body) as Record<string, string>);
        await this.beforeEffect(name, fields);
        return this.away ? { status: 503, body: {} } : this.backend(method, name, fields);
      }
      const sandbox = this.sandboxes.get(name);
      if (area !== 'sandboxes' || sandbox === undefined || sandbox.ended !== null || this.unreachable.has(name))
        return { status: 503, body: {} };
      if (rest.join('/') === 'server_info') return { status: 200, body: { idle_time: this.idleSeconds } };
      if (rest.join('/') !== 'api/init') return { status: 404, body: {} };
      if (method === 'POST') await this.beforeEffect('init', { name });
      if (method !== 'POST') return { status: 200, body: sandbox.latch.state() };
      if (this.diesWhenActivated(name)) {
        this.end(name);
        return { status: 503, body: {} };
      }
      const answer = sandbox.latch.activate(request.headers.authorization, body);
      if (answer.status === 200)
        this.history.push({ kind: 'activated', name, uid: sandbox.uid, claimId: sandbox.latch.claimId ?? '' });
      else this.history.push({ kind: 'refused', name, status: answer.status });
      return answer;
    });
    this.url = `http://127.0.0.1:${server.port}`;
    this.server = server;
    return this;
  }

  async close(): Promise<void> {
    for (const { own } of this.sandboxes.values()) own?.close();
    await this.server?.close();
  }

  /** agent-server dies. */
  end(name: string): void {
    const sandbox = this.sandboxes.get(name);
    if (sandbox !== undefined) sandbox.ended = 'the sandbox ended: agent-server was killed (SIGKILL)';
    this.tell();
  }

  /** A node gets a taint, say. */
  avoid(names: Iterable<string>, reason: string): void {
    for (const name of names) this.avoided.set(name, reason);
    this.tell();
  }

  /** @returns a function that ends it. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  private seen(name: string, { uid, own, ended }: FarmedSandbox): FarmedState {
    return {
      name,
      uid,
      port: own?.port ?? null,
      ended,
      pending: this.inTheWay(name),
      avoid: this.avoided.get(name) ?? null,
    };
  }

  private async backend(
    method: string,
    call: string,
    body: Record<string, string>,
  ): Promise<{ status: number; body: unknown }> {
    const { name = '', uid = '', slotId = '', workspace = '' } = body;
    const sandbox = this.sandboxes.get(name);
    switch (`${method} ${call}`) {
      case 'POST ensure': {
        if (sandbox === undefined) {
          const own = this.portEach && this.server !== undefined ? await listenAlso(this.server.server) : null;
          const created = { uid: randomUUID(), own, ended: null, note: null };
          this.sandboxes.set(name, {
            ...created,
            latch: new Latch({ slotId, podUid: created.uid, publicKey: this.publicKey }, `/workspaces/${name}`),
          });
          this.workspaces.add(name);
          this.history.push({ kind: 'created', name, uid: created.uid });
        }
        return { status: 200, body: {} };
      }
      case 'POST remove': {
        if (sandbox !== undefined && sandbox.uid !== uid) return { status: 200, body: { result: 'kept' } };
        sandbox?.own?.close();
        if (this.sandboxes.delete(name)) this.history.push({ kind: 'removed', name, uid });
        return { status: 200, body: { result: 'gone' } };
      }
      case 'POST keep': {
        if (sandbox === undefined || sandbox.uid !== uid) return { status: 200, body: { result: 'nothing' } };
        if (this.silent && sandbox.ended === null)
          return { status: 200, body: { result: body['owned'] === 'yes' ? 'silent' : 'kept' } };
        const bytes = sandbox.latch.claimId === null ? null : this.workspaceBytes;
        return {
          status: 200,
          body: {
            result:
              sandbox.ended !== null ? 'nothing' : this.storeAway && sandbox.latch.claimId !== null ? 'unkept' : 'kept',
            bytes,
          },
        };
      }
      case 'POST note':
        if (this.silent) return { status: 503, body: {} };
        if (sandbox?.uid === uid) sandbox.note = body['claimId'] ?? null;
        return { status: 200, body: {} };
      case 'POST observe':
        return { status: 200, body: { sandbox: sandbox === undefined ? null : this.seen(name, sandbox) } };
      case 'POST attach': {
        if (!this.workspaces.has(workspace)) return { status: 404, body: { missing: 'workspace' } };
        if (sandbox === undefined || sandbox.ended !== null) return { status: 404, body: { missing: 'sandbox' } };
        sandbox.latch.workingDir = `/workspaces/${workspace}`;
        return { status: 200, body: {} };
      }
      case 'POST delete-workspace':
        this.workspaces.delete(workspace);
        return { status: 200, body: {} };
      case 'GET state':
        return {
          status: 200,
          body: {
            sandboxes: [...this.sandboxes].map(([key, value]) => this.seen(key, value)),
            workspaces: [...this.workspaces],
          },
        };
      default:
        return { status: 404, body: {} };
    }
  }
}
