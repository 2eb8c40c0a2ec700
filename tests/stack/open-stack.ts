import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ConversationInfo } from '@slipway/contracts/agent';
import { type Conversation, type CreateConversation } from '@slipway/contracts/conversations';
import { ORG_HEADER, type Runtime } from '@slipway/contracts/sandboxes';
import {
  type GitServer,
  type ModelServer,
  type SignedInClient,
  signIn,
  startGitServer,
  startModelServer,
} from '@slipway/testing';
import { expect } from 'expect';
import pg from 'pg';
import { freePortRange } from '../../deploy/local/free-ports.ts';
import { type LocalService, PORT_OFFSETS, type Secrets } from '../../deploy/local/settings.ts';
import { type Stack, startStack } from '../../deploy/local/stack.ts';
import { type Harness, ScriptBook } from './script-book.ts';
import { Talk } from './talk.ts';

/** The provider's key: a secret that must never be seen again. */
export const LLM_KEY = 'sk-canary-of-the-provider-0123456789abcdef';

export interface StackOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Repositories of the git server that ask for a password. */
  readonly privateNames?: readonly string[];
  /** Where sandboxes find this machine [127.0.0.1]. */
  readonly hostAddress?: string;
  /** Variables of single services that are known when it is known where the services are: what stands between them. */
  /** Files that are started in place of built programs. */
  readonly entries?: Partial<Record<LocalService, string>>;
  readonly between?: (addressOf: (service: LocalService) => string) => Promise<ServiceEnv>;
}

type ServiceEnv = Partial<Record<LocalService, Readonly<Record<string, string>>>>;

/** The whole local stack without its pages, with a git server, a scripted model and the demo user signed in. */
export class OpenStack {
  readonly book: ScriptBook;
  readonly model: ModelServer;
  readonly git: GitServer;
  readonly folder: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  private readonly serviceEnv: ServiceEnv;
  private readonly entries: StackOptions['entries'];
  stack: Stack;
  user: SignedInClient;
  private readonly talks: Talk[] = [];

  private constructor(
    parts: Pick<OpenStack, 'book' | 'model' | 'git' | 'folder' | 'port' | 'stack' | 'user'> & {
      env: OpenStack['env'];
      serviceEnv: ServiceEnv;
      entries: StackOptions['entries'];
    },
  ) {
    ({
      book: this.book,
      model: this.model,
      git: this.git,
      folder: this.folder,
      port: this.port,
      stack: this.stack,
      user: this.user,
      env: this.env,
      serviceEnv: this.serviceEnv,
      entries: this.entries,
    } = parts);
  }

  static async open(options: StackOptions = {}): Promise<OpenStack> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-stack-'));
    const book = new ScriptBook();
    const model = await startModelServer({ script: book.script, apiKey: LLM_KEY });
    const git = await startGitServer(path.join(folder, 'repositories'), {
      privateNames: options.privateNames ?? [],
      address: options.hostAddress ?? '127.0.0.1',
    });
    const port = await freePortRange();
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      LLM_BASE_URL: model.url,
      LLM_API_KEY: LLM_KEY,
      LLM_MODEL: 'scripted',
      ORG_SANDBOX_LIMIT: '40',
      ...(options.hostAddress === undefined ? {} : { SANDBOX_HOST_ADDRESS: options.hostAddress }),
      ...options.env,
    };
    const serviceEnv = (await options.between?.((service) => addressAt(port, service))) ?? {};
    const stack = await start(port, folder, env, serviceEnv, options.entries);
    const user = await signIn(stack.url);
    return new OpenStack({ book, model, git, folder, port, stack, user, env, serviceEnv, entries: options.entries });
  }

  get url(): string {
    return this.stack.url;
  }

  get orgId(): string {
    const org = this.user.me.orgs[0];
    if (org === undefined) throw new Error('the person has no organization');
    return org.id;
  }

  get repositories(): string {
    return path.join(this.folder, 'repositories');
  }

  /** The stack again, on the same data and the same ports. The one before must have ended. */
  async startAgain(): Promise<void> {
    this.stack = await start(this.port, this.folder, this.env, this.serviceEnv, this.entries);
  }

  create(
    body: CreateConversation,
    user = this.user,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return user.fetch(`/api/v1/orgs/${user.me.orgs[0]?.id}/conversations`, { method: 'POST', json: body, headers });
  }

  /** A new conversation whose first message opens `harness`. */
  async talk(name: string, harness: Harness, more: Partial<CreateConversation> = {}, user = this.user): Promise<Talk> {
    const response = await this.create({ prompt: this.book.write(name, harness), ...more }, user);
    expect([response.status, await response.clone().text()]).toEqual([201, expect.any(String)]);
    return this.follow(((await response.json()) as Conversation).id, user);
  }

  /** A conversation that there is. */
  follow(id: string, user = this.user): Talk {
    const talk = new Talk(this.url, user, user.me.orgs[0]?.id ?? '', id);
    this.talks.push(talk);
    return talk;
  }

  get secrets(): Secrets {
    return JSON.parse(readFileSync(path.join(this.stack.dataDirectory, 'secrets.json'), 'utf8')) as Secrets;
  }

  /** A service of the stack as other services reach it. */
  addressOf(service: LocalService): string {
    return addressAt(this.port, service);
  }

  /** The conversation's sandbox as runtime-api gives it to worker, with its key. */
  async sandboxOf(talk: Talk): Promise<Runtime> {
    const headers = { 'x-api-key': this.secrets.runtimeApiKey, [ORG_HEADER]: talk.orgId };
    return (
      await fetch(`${this.addressOf('runtime-api')}/sessions/${talk.id}`, { headers })
    ).json() as Promise<Runtime>;
  }

  /** What the agent-server of a sandbox says of its way to app-server. */
  async outboxOf(talk: Talk, sandbox: Runtime): Promise<{ epoch: number; pending: number; fenced: boolean }> {
    const response = await fetch(`${sandbox.url}/api/conversations/${talk.id}`, {
      headers: { 'x-session-api-key': sandbox.session_api_key },
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as ConversationInfo)['slipway'] as Awaited<ReturnType<OpenStack['outboxOf']>>;
  }

  /** Queries the database as its owner. */
  async query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.stack.ownerUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    for (const talk of this.talks) talk.close();
    await this.stack.stop();
    await this.model.close();
    await this.git.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const addressAt = (port: number, service: LocalService): string => `http://127.0.0.1:${port + PORT_OFFSETS[service]}`;

function start(
  port: number,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  serviceEnv: ServiceEnv,
  entries: StackOptions['entries'],
): Promise<Stack> {
  return startStack({
    port,
    dataDirectory: path.join(folder, 'data'),
    env,
    log: () => {},
    signal: AbortSignal.timeout(120_000),
    without: ['web'],
    serviceEnv,
    ...(entries === undefined ? {} : { entries }),
  });
}
