import { randomBytes } from 'node:crypto';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import type { Credential } from '@slipway/contracts/credentials';
import type { EgressRequest } from '@slipway/contracts/sandboxes';
import { freePort, until } from '@slipway/testing';
import { type Answer, ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';
import {
  type Answered,
  type Asked,
  type Origin,
  TestBroker,
} from '../../apps/credential-broker/dist/testing/test-broker.js';

const CREDENTIAL_CONTROL_SECRET = 'credential-control-of-tests-0123456789abcdef';
export const HOST = 'registry.example.com';
export const VALUE = 'canary-value-of-a-credential';

/** A sandbox of a conversation, as the broker knows it. */
export interface UsingSandbox {
  readonly org: string;
  readonly conversation: string;
  readonly claim: string;
}

type Broker = Awaited<ReturnType<TestBroker['another']>>;

/** A real app-server, two real brokers that ask it, and a host of the internet. */
export class UsesWorld {
  readonly app: ConversationApp;
  readonly broker: TestBroker;
  readonly second: Broker;
  readonly origin: Origin;
  private readonly settings: Readonly<Record<string, string>>;
  private count = 0;

  private constructor(
    app: ConversationApp,
    brokers: { readonly first: TestBroker; readonly second: Broker },
    origin: Origin,
    settings: Readonly<Record<string, string>>,
  ) {
    this.app = app;
    this.broker = brokers.first;
    this.second = brokers.second;
    this.origin = origin;
    this.settings = settings;
  }

  static async start(holdSeconds: number): Promise<UsesWorld> {
    const port = await freePort();
    const app = await ConversationApp.start({
      env: {
        EGRESS_CONTROL_SECRET: 'egress-control-of-tests-0123456789abcdef',
        CREDENTIAL_CONTROL_SECRET,
        INTERNAL_PORT: String(port),
      },
    });
    const settings = {
      CREDENTIAL_CONTROL_URL: `http://127.0.0.1:${port}`,
      CREDENTIAL_CONTROL_SECRET,
      BROKER_HOLD_SECONDS: String(holdSeconds),
    };
    const broker = await TestBroker.start(settings);
    const origin = await broker.origin(HOST, (_request, response) => response.end('fine'));
    return new UsesWorld(app, { first: broker, second: await broker.another(settings) }, origin, settings);
  }

  async close(): Promise<void> {
    await this.second.close();
    await this.broker.close();
    await this.app.close();
  }

  /** One more, to be killed. */
  another(more: Readonly<Record<string, string>> = {}): Promise<Broker> {
    return this.broker.another({ ...this.settings, ...more });
  }

  /** A credential with one place at the host. */
  async credential(user: User, place: object, body: object = {}): Promise<Credential> {
    this.count += 1;
    const answer = await this.app.http<Credential>(user, 'POST', `/api/v1/orgs/${user.orgId}/credentials`, {
      name: `TOKEN_${this.count}`,
      value: VALUE,
      use: { form: 'bearer', places: [this.place(place)] },
      ...body,
    });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  }
  place(more: object): object {
    return { host: HOST, port: this.origin.port, ...more };
  }

  async change(user: User, { id }: Credential, body: object): Promise<Answer<Credential>> {
    return this.app.http<Credential>(user, 'PATCH', `/api/v1/orgs/${user.orgId}/credentials/${id}`, body);
  }

  async remove(user: User, { id }: Credential): Promise<void> {
    await this.app.http(user, 'DELETE', `/api/v1/orgs/${user.orgId}/credentials/${id}`);
  }

  async sandbox(user: User): Promise<UsingSandbox> {
    const { id } = await this.app.conversation(user);
    await this.app.started(id);
    return { org: user.orgId, conversation: id, claim: `clm_${id}` };
  }

  /** A request of a sandbox. @param by which of the brokers it comes by. */
  ask(line: UsingSandbox, asked: Omit<Asked, 'host' | 'line'>, by: Broker = this.broker.broker): Promise<Answered> {
    return this.broker.ask({ host: HOST, ...asked, line }, by.address);
  }

  /** So many of the same at once, by both brokers in turn. @returns how many passed. */
  async race(line: UsingSandbox, asked: Omit<Asked, 'host' | 'line'>, count: number): Promise<number> {
    const all = await Promise.all(
      Array.from({ length: count }, (_, index) => this.ask(line, asked, index % 2 === 0 ? this.second : undefined)),
    );
    return all.filter(({ status }) => status === 200).length;
  }

  /**
   * The same until all that may be taken is: on a slow machine an answer of app-server may come too late, and then a
   * use is taken and nothing was sent. @returns how many passed.
   */
  async raceUntil(
    taken: () => Promise<boolean>,
    line: UsingSandbox,
    asked: Omit<Asked, 'host' | 'line'>,
    count: number,
  ) {
    let passed = 0;
    for (let attempt = 0; attempt < 10 && !(await taken()); attempt += 1) passed += await this.race(line, asked, count);
    if (!(await taken())) throw new Error('not all was taken');
    return passed + (await this.race(line, asked, count));
  }

  /** Yeses for one request that were taken, and uses that are counted. */
  async taken({ conversation }: UsingSandbox): Promise<{ readonly yeses: number; readonly uses: number }> {
    const { rows } = await this.app.owner.query<{ yeses: number; uses: number }>(
      `SELECT (SELECT count(*)::int FROM app.credential_request WHERE conversation_id = $1 AND used_by IS NOT NULL) AS yeses,
              (SELECT count(*)::int FROM app.credential_use WHERE conversation_id = $1) AS uses`,
      [conversation],
    );
    return rows[0] ?? { yeses: 0, uses: 0 };
  }

  async requests(user: User, { org, conversation }: UsingSandbox): Promise<EgressRequest[]> {
    const path = `/api/v1/orgs/${org}/conversations/${conversation}/egress-requests`;
    return (await this.app.http<{ data: EgressRequest[] }>(user, 'GET', path)).body.data;
  }

  async waiting(user: User, sandbox: UsingSandbox): Promise<EgressRequest> {
    let found: EgressRequest | undefined;
    await until('a request waits', async () => {
      found = (await this.requests(user, sandbox)).find(({ state }) => state === 'waiting');
      return found !== undefined;
    });
    return found as EgressRequest;
  }

  answer(
    user: User,
    { org, conversation }: UsingSandbox,
    request: EgressRequest,
    more: object = {},
    key?: string,
  ): Promise<Answer<EgressRequest & { code?: string }>> {
    return this.app.http(
      user,
      'POST',
      `/api/v1/orgs/${org}/conversations/${conversation}/egress-requests/${request.id}`,
      { decision: 'allow', host: request.host, port: request.port, ...more },
      key === undefined ? {} : { 'idempotency-key': key },
    );
  }

  /** A question about a use, as the broker asks it. */
  decide(question: object): Promise<{ readonly decision: string }> {
    return this.internal('use', question);
  }

  /** A signed request to app-server's internal port. */
  async internal<Answer>(name: string, question: object): Promise<Answer> {
    const path = `/internal/credentials/v1/${name}`;
    const body = JSON.stringify(question);
    const signature = new InternalSignature(CREDENTIAL_CONTROL_SECRET, 'slipway-credentials');
    const nonce = randomBytes(16).toString('base64url');
    const response = await fetch(`${this.settings['CREDENTIAL_CONTROL_URL']}${path}`, {
      method: 'POST',
      headers: { [SIGNATURE_HEADER]: signature.sign({ method: 'POST', path, body }, new Date(), nonce) },
      body,
    });
    return (await response.json()) as Answer;
  }

  /** Paths that the host was asked for with the value. */
  seen(): string[] {
    return this.origin.seen
      .filter(({ headers }) => headers.authorization === `Bearer ${VALUE}`)
      .map(({ method, url }) => `${method} ${url}`);
  }
}
