import { once } from 'node:events';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { freePort, until } from '@slipway/testing';
import { type Answer, ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import {
  CLAIMS,
  type Origin,
  startOrigin,
  TestEgress,
  type Tunnel,
} from '../../apps/egress-proxy/dist/testing/test-egress.js';

const CONTROL_SECRET = 'control-secret-of-tests-0123456789abcdef';
/** Of loopback, and the only one that the proxy may reach here. */
const OUTSIDE = '127.0.0.2';

/** Claims of a sandbox that works for a conversation. */
export interface Sandbox {
  readonly org: string;
  readonly conversation: string;
  readonly claim: string;
  readonly template: string;
  readonly egress: 'allow-list';
}

/** A real app-server, a real egress-proxy that asks it, and a host of the internet. */
export class EgressWorld {
  readonly app: ConversationApp;
  readonly proxy: TestEgress;
  readonly origin: Origin;
  /** app-server's internal port. */
  readonly controlUrl: string;
  readonly controlSecret = CONTROL_SECRET;

  private constructor(app: ConversationApp, proxy: TestEgress, origin: Origin, controlUrl: string) {
    this.app = app;
    this.proxy = proxy;
    this.origin = origin;
    this.controlUrl = controlUrl;
  }

  /** @param holdSeconds how long a connection waits for a user. @param env more of app-server. */
  static async start(holdSeconds: number, env: Readonly<Record<string, string>> = {}): Promise<EgressWorld> {
    const port = await freePort();
    const controlUrl = `http://127.0.0.1:${port}`;
    const app = await ConversationApp.start({
      env: {
        EGRESS_CONTROL_SECRET: CONTROL_SECRET,
        INTERNAL_PORT: String(port),
        EGRESS_NEVER_HOSTS: 'never.example',
        ...env,
      },
    });
    const origin = await startOrigin(undefined, OUTSIDE);
    const proxy = await TestEgress.start({
      EGRESS_PERMITTED_RANGES: `${OUTSIDE}/32`,
      EGRESS_PORTS: `80,443,${origin.port}`,
      EGRESS_CONTROL_URL: controlUrl,
      EGRESS_CONTROL_SECRET: CONTROL_SECRET,
      EGRESS_HOLD_SECONDS: String(holdSeconds),
      EGRESS_NEVER_HOSTS: 'never.example',
      EGRESS_REQUESTS_PER_SECOND: '10000',
    });
    return new EgressWorld(app, proxy, origin, controlUrl);
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await Promise.all([this.app.close(), this.origin.close()]);
  }

  /** The host's name leads to the origin. */
  name(host: string): string {
    this.proxy.names.set(host, [OUTSIDE]);
    return `${host}:${this.origin.port}`;
  }

  async sandbox(user: User): Promise<Sandbox> {
    const { id } = await this.app.conversation(user);
    await this.app.started(id);
    return { org: user.orgId, conversation: id, claim: `clm_${id}`, template: 'narrow', egress: 'allow-list' };
  }

  /** @param asker who asks, as the sandbox says. */
  connect(sandbox: Sandbox, target: string, asker?: string): Promise<Tunnel> {
    return this.proxy.tunnel(target, { ...CLAIMS, ...sandbox }, asker);
  }

  async status(sandbox: Sandbox, target: string): Promise<number> {
    const { status, socket } = await this.connect(sandbox, target);
    socket.destroy();
    return status;
  }

  async requests(user: User, { org, conversation }: Sandbox): Promise<EgressRequest[]> {
    const path = `/api/v1/orgs/${org}/conversations/${conversation}/egress-requests`;
    return (await this.app.http<{ data: EgressRequest[] }>(user, 'GET', path)).body.data;
  }

  async waiting(user: User, sandbox: Sandbox, host: string): Promise<EgressRequest> {
    let found: EgressRequest | undefined;
    await until(`a request for ${host} waits`, async () => {
      found = (await this.requests(user, sandbox)).find((each) => each.host === host && each.state === 'waiting');
      return found !== undefined;
    });
    return found as EgressRequest;
  }

  answer(
    user: User,
    { org, conversation }: Sandbox,
    request: EgressRequest,
    more: Record<string, unknown> = {},
    key?: string,
  ): Promise<Answer<EgressRequest & { code?: string; detail?: string }>> {
    return this.app.http(
      user,
      'POST',
      `/api/v1/orgs/${org}/conversations/${conversation}/egress-requests/${request.id}`,
      { decision: 'allow', host: request.host, port: request.port, ...more },
      key === undefined ? {} : { 'idempotency-key': key },
    );
  }

  rule(user: User, body: object): Promise<Answer<{ id: string; code?: string }>> {
    return this.app.http(user, 'POST', `/api/v1/orgs/${user.orgId}/egress-rules`, body);
  }

  /** Through an open tunnel, over plain http. */
  async ask({ socket }: Tunnel): Promise<string> {
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    return chunk.toString().split('\r\n')[0] ?? '';
  }

  async audit(action: string): Promise<Array<{ target: string; actor_id: string; detail: Record<string, unknown> }>> {
    const { rows } = await this.app.owner.query(
      'SELECT target, actor_id, detail FROM app.audit_entry WHERE action = $1 ORDER BY created_at',
      [action],
    );
    return rows;
  }
}
