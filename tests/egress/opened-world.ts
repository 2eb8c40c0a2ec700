import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { EgressRule } from '@slipway/contracts/sandboxes';
import { freePort, until } from '@slipway/testing';
import { type Answer, ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { BROKER_SECRET, type Origin, TestBroker } from '../../apps/credential-broker/dist/testing/test-broker.js';
import { CLAIMS, TestEgress, type Tunnel } from '../../apps/egress-proxy/dist/testing/test-egress.js';
import type { Sandbox } from './world.ts';

const EGRESS_CONTROL_SECRET = 'egress-control-of-tests-0123456789abcdef';
const CREDENTIAL_CONTROL_SECRET = 'credential-control-of-tests-0123456789abcdef';

/** A real app-server, egress-proxy and credential-broker on one another, and hosts with certificates. */
export class OpenedWorld {
  readonly app: ConversationApp;
  readonly broker: TestBroker;
  readonly proxy: TestEgress;
  readonly origins: ReadonlyMap<string, Origin>;

  private constructor(app: ConversationApp, broker: TestBroker, proxy: TestEgress, origins: Map<string, Origin>) {
    this.app = app;
    this.broker = broker;
    this.proxy = proxy;
    this.origins = origins;
  }

  /** @param answer of the hosts; absent: `METHOD PATH` of the request. */
  static async start(hosts: readonly string[], holdSeconds = 20, answer?: RequestListener): Promise<OpenedWorld> {
    const port = await freePort();
    const app = await ConversationApp.start({
      env: { EGRESS_CONTROL_SECRET, CREDENTIAL_CONTROL_SECRET, INTERNAL_PORT: String(port) },
    });
    const control = `http://127.0.0.1:${port}`;
    const broker = await TestBroker.start({ CREDENTIAL_CONTROL_URL: control, CREDENTIAL_CONTROL_SECRET });
    const origins = new Map<string, Origin>();
    for (const host of hosts)
      origins.set(
        host,
        await broker.origin(host, (request, response) => {
          if (answer !== undefined) return answer(request, response);
          if (request.url === '/open') response.writeHead(200).write('begun');
          else response.end(`${request.method} ${request.url}`);
        }),
      );
    const at = broker.broker.address;
    const proxy = await TestEgress.start({
      EGRESS_PERMITTED_RANGES: '127.0.0.1/32',
      EGRESS_PORTS: ['80', '443', ...[...origins.values()].map((origin) => origin.port)].join(','),
      EGRESS_CONTROL_URL: control,
      EGRESS_CONTROL_SECRET,
      EGRESS_HOLD_SECONDS: String(holdSeconds),
      BROKER_URL: `tcp://${at.host}:${at.port}`,
      BROKER_SECRET,
    });
    for (const host of hosts) proxy.names.set(host, ['127.0.0.1']);
    return new OpenedWorld(app, broker, proxy, origins);
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await this.broker.close();
    await this.app.close();
  }

  origin(host: string): Origin {
    const origin = this.origins.get(host);
    if (origin === undefined) throw new Error(host);
    return origin;
  }

  /** `host:port`, as rules and CONNECT write it. */
  target(host: string): string {
    return `${host}:${this.origin(host).port}`;
  }

  async sandbox(user: User): Promise<Sandbox> {
    const { id } = await this.app.conversation(user);
    await this.app.started(id);
    return { org: user.orgId, conversation: id, claim: `clm_${id}`, template: 'narrow', egress: 'allow-list' };
  }

  rule(user: User, host: string, body: object): Promise<Answer<EgressRule & { code: string; detail: string }>> {
    return this.app.http(user, 'POST', `/api/v1/orgs/${user.orgId}/egress-rules`, {
      host: this.origins.has(host) ? this.target(host) : host,
      action: 'allow',
      ...body,
    });
  }

  async remove(user: User, { id }: EgressRule): Promise<void> {
    const { status } = await this.app.http(user, 'DELETE', `/api/v1/orgs/${user.orgId}/egress-rules/${id}`);
    if (status !== 204) throw new Error(`the rule is not removed: ${status}`);
  }

  connect(sandbox: Sandbox, target: string): Promise<Tunnel> {
    return this.proxy.tunnel(target, { ...CLAIMS, ...sandbox });
  }

  /** TLS through a tunnel, to the broker or, where nothing is opened, to the host itself. */
  async secure(sandbox: Sandbox, host: string): Promise<TLSSocket> {
    const { socket, status } = await this.connect(sandbox, this.target(host));
    if (status !== 200) throw new Error(`CONNECT ${host}: ${status}`);
    const secured = connectTls({ socket, servername: host, ca: [this.broker.authority.cert, this.broker.roots.cert] });
    secured.on('error', () => {});
    await once(secured, 'secureConnect');
    return secured;
  }

  /** One request on a connection of its own. @returns its status and the code of a refusal; 0: it was broken off. */
  async ask(sandbox: Sandbox, host: string, method: string, path = '/', headers: Record<string, string> = {}) {
    const socket = await this.secure(sandbox, host);
    const answer = await this.broker.askOn(socket, { host, method, path, headers });
    const opened = socket.getPeerX509Certificate()?.checkIssued(rootOf(this.broker.authority.cert)) ?? false;
    socket.destroy();
    return { status: answer.status, code: answer.code, text: answer.text, opened };
  }

  /** Until app-server's word has reached proxy and broker. */
  async eventually(what: string, seen: () => Promise<boolean>): Promise<void> {
    await until(what, () => seen().catch(() => false));
  }
}

function rootOf(pem: string): X509Certificate {
  return new X509Certificate(pem);
}
