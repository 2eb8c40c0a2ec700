import { randomUUID } from 'node:crypto';
import { callerKeySha256 } from '@slipway/auth/caller-keys';
import { CALLER_KEY_HEADER, type CallerUser } from '@slipway/contracts/agent';
import { type ConversationEvent } from '@slipway/contracts/events';
import { pendingActions } from '@slipway/domain';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../../apps/agent-server/dist/testing/sandbox.js';
import type { ConversationApp } from '../../apps/app-server/dist/testing/conversation-app.js';
/** Those of them that are broken between the app and agent-server. */ import {
  type Actor,
  type Company,
  type Given,
  isAccount,
  type Written,
} from './actors.ts';
import { overSocket } from './agent-socket.ts';
import { type Broken, breakAskers } from './broken-rules.ts';
import { BrokenWire } from './broken-wire.ts';
import { faultsOf } from './faults.ts';

const ON_THE_WIRE = ['run-accepts', 'no-key-means-app'] as const;
type OnTheWire = (typeof ON_THE_WIRE)[number];

/** Longest until the agent waits or is idle. Milliseconds, on a busy machine. */
const SETTLE_MS = 30_000;
/**
 * One conversation under four eyes: real app-servers, a real sandbox, and this as the worker that starts and delivers.
 */
export class World {
  /** Who wrote, and when, as this knows it: beside what app-server counts. */
  private readonly written: Written[] = [];
  private readonly approvedBy = new Map<string, { readonly by: Actor; readonly turn: number }>();
  /** Each yes that the app took, whatever a sandbox made of it. */
  private readonly given: Given[] = [];
  /** Approved while four eyes was off. */
  private readonly exempt = new Set<string>();
  /** What a hostile sandbox has kept of answers that it lost. */
  private readonly receipts: Array<{ readonly by: Actor; readonly ids: readonly string[]; readonly receipt: string }> =
    [];
  private turn = 0;
  private epoch = 1;

  readonly id: string;
  private readonly app: ConversationApp;
  private readonly company: Company;
  private readonly sandbox: TestSandbox;
  private readonly model: ModelServer;
  private readonly wire: BrokenWire | null;
  private readonly broken: Broken | null;

  private constructor(of: {
    id: string;
    app: ConversationApp;
    company: Company;
    sandbox: TestSandbox;
    model: ModelServer;
    wire: BrokenWire | null;
    broken: Broken | null;
  }) {
    this.id = of.id;
    this.app = of.app;
    this.company = of.company;
    this.sandbox = of.sandbox;
    this.model = of.model;
    this.wire = of.wire;
    this.broken = of.broken;
  }

  static async open(app: ConversationApp, company: Company, broken: Broken | null): Promise<World> {
    const { people } = company;
    const { id } = await app.conversation(people.ada, 'Make files, one by one.');
    const sandbox = await TestSandbox.create();
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    const activated = await sandbox.activate({ claim: { app_key_sha256: callerKeySha256(app.keys.appKey(id)) } });
    if (activated.status !== 200) throw new Error(`activation: ${activated.status}`);
    let made = 0;
    const model = await startModelServer({
      script: () => ({ toolCalls: [{ name: 'terminal', arguments: { command: `touch file-${made++}` } }] }),
    });
    const onTheWire = ON_THE_WIRE.find((each): each is OnTheWire => each === broken);
    const wire = onTheWire === undefined ? null : await BrokenWire.to(sandbox.url, onTheWire, app.keys.appKey(id));
    const world = new World({ id, app, company, sandbox, model, wire, broken });
    world.written.push({ by: 'ada', turn: 0 });
    await world.start(1, 0);
    await world.deliver();
    await world.settled();
    return world;
  }

  async close(): Promise<void> {
    await this.wire?.close();
    await this.sandbox.close();
    await this.model.close();
  }

  /** As the app addresses the sandbox. */
  private get url(): string {
    return this.wire?.url ?? this.sandbox.url;
  }

  private get asApp(): Record<string, string> {
    return { 'x-session-api-key': this.sandbox.sessionKey, [CALLER_KEY_HEADER]: this.app.keys.appKey(this.id) };
  }

  private callerOf(actor: Actor): CallerUser {
    const { people, accounts } = this.company;
    return isAccount(actor)
      ? { id: accounts[actor].id, label: actor, kind: 'service-account' }
      : { id: people[actor].userId, label: actor, kind: 'user' };
  }

  private async agent(
    method: string,
    route: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<number> {
    const answer = await fetch(`${this.url}${route}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null);
    await answer?.arrayBuffer().catch(() => {});
    return answer?.status ?? 0;
  }

  /** A request of the app's API, to either replica. */
  async api(actor: Actor, replica: number, method: string, rest: string, body?: object): Promise<number> {
    const { people, accounts } = this.company;
    const { url } = this.app.replicas[replica % this.app.replicas.length] as { url: string };
    const proof: Record<string, string> = isAccount(actor)
      ? { authorization: `Bearer ${accounts[actor].key}` }
      : { cookie: people[actor].cookie, origin: new URL(url).origin };
    const answer = await fetch(`${url}${this.app.path(people.ada, this.id, rest)}`, {
      method,
      headers: { ...proof, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    }).catch(() => null);
    await answer?.arrayBuffer().catch(() => {});
    return answer?.status ?? 0;
  }

  async events(): Promise<ConversationEvent[]> {
    return (await this.app.log(this.id)).map(({ event }) => event);
  }

  async pending(): Promise<string[]> {
    return pendingActions(await this.events()).map(({ id }) => id);
  }

  /** As worker starts a sandbox: where the log goes, and what the organization wants. */
  private async start(epoch: number, head: number): Promise<void> {
    const { ada } = this.company.people;
    this.epoch = epoch;
    await this.app.started(this.id, epoch, {
      url: this.url,
      key: this.sandbox.sessionKey,
      workingDir: this.sandbox.workspace,
    });
    const status = await this.agent(
      'POST',
      '/api/conversations',
      {
        conversation_id: this.id,
        agent: { llm: { model: 'openai/scripted', base_url: this.model.url, num_retries: 0 } },
        workspace: { working_dir: this.sandbox.workspace, kind: 'LocalWorkspace' },
        confirmation_policy: { kind: 'AlwaysConfirm' },
        slipway: {
          epoch,
          ingestUrl: `${this.app.url}/ingest/v1/conversations/${this.id}`,
          ingestToken: await this.app.token(ada, this.id, epoch),
          head,
          resumeRun: true,
          orgConfirmation: { floor: 'always', fourEyes: true },
        },
      },
      this.asApp,
    );
    if (status !== 201 && status !== 200) throw new Error(`the start was answered ${status}`);
  }

  /** As worker hands the inbox over. Again and again the same is the same. */
  async deliver(): Promise<void> {
    const { rows } = await this.app.owner.query<{
      id: string;
      text: string;
      created_by: string;
      created_by_label: string;
    }>(
      `SELECT m.id, m.text, m.created_by, m.created_by_label FROM app.inbox_message m WHERE m.conversation_id = $1 AND m.state <> 'withdrawn'
         AND NOT EXISTS (SELECT 1 FROM app.event e WHERE e.conversation_id = $1 AND e.event_id = m.id) ORDER BY m.position`,
      [this.id],
    );
    for (const { id, text, created_by, created_by_label } of rows) {
      const body = {
        role: 'user',
        content: [{ type: 'text', text }],
        run: true,
        event_id: id,
        sender: created_by_label,
        sender_id: created_by,
      };
      await this.agent('POST', `/api/conversations/${this.id}/events`, body, this.asApp);
    }
  }

  /** Until the agent waits for a user, or has nothing to do; the app's log then has everything. */
  async settled(): Promise<void> {
    await until(
      'the agent waits or rests',
      async () => {
        const answer = await fetch(`${this.sandbox.url}/api/conversations/${this.id}`, { headers: this.asApp }).then(
          (response) => response.json() as Promise<{ execution_status?: string }>,
          () => null,
        );
        const { rows } = await this.app.owner.query<{ execution_status: string }>(
          'SELECT execution_status FROM app.conversation WHERE id = $1',
          [this.id],
        );
        return (
          answer?.execution_status !== undefined &&
          answer.execution_status !== 'running' &&
          rows[0]?.execution_status === answer.execution_status
        );
      },
      SETTLE_MS,
    );
  }

  async write(actor: Actor, way: 'api' | 'request' | 'socket', replica: number): Promise<void> {
    this.turn += 1;
    const text = `Go on, says ${actor}.`;
    if (way === 'api') {
      const status = await this.api(actor, replica, 'POST', '/messages', { text });
      if (status < 300 && status > 0) this.written.push({ by: actor, turn: this.turn });
      return this.deliver();
    }
    const headers = this.sandbox.asUser(this.callerOf(actor));
    const frame = {
      role: 'user',
      content: [{ type: 'text', text }],
      run: true,
      sender: 'Ada',
      sender_id: this.company.people.ada.userId,
    };
    const taken =
      way === 'request'
        ? (await this.agent('POST', `/api/conversations/${this.id}/events`, frame, headers)) === 200
        : await overSocket(`${this.url.replace('http', 'ws')}/sockets/events/${this.id}`, frame, headers);
    if (taken) this.written.push({ by: actor, turn: this.turn });
  }

  /** A yes of the app's API. What is counted is that it was taken, and by whom. */
  async approve(actor: Actor, replica: number, always: boolean): Promise<void> {
    const actionIds = await this.pending();
    if (actionIds.length === 0) return;
    this.turn += 1;
    await breakAskers(this.app.owner, this.id, this.broken);
    const rule = always ? { always: { tool_name: 'terminal', match: 'prefix', value: 'touch' } } : {};
    const status = await this.api(actor, replica, 'POST', '/confirmation', { accept: true, actionIds, ...rule });
    if (status === 200) this.approved(actor, actionIds);
  }

  private approved(by: Actor, ids: readonly string[]): void {
    for (const id of ids) this.approvedBy.set(id, { by, turn: this.turn });
    this.given.push({ by, ids });
  }

  /** As `approve`, of a hostile sandbox that says it has the answer, stores nothing, and keeps what came with it. */
  async approveInVain(actor: Actor, replica: number): Promise<void> {
    const ids = await this.pending();
    if (ids.length === 0) return;
    this.turn += 1;
    await breakAskers(this.app.owner, this.id, this.broken);
    let receipt = '';
    const hostile = await this.app.fakeSandbox((_request, body) => {
      receipt = (JSON.parse(body) as { slipway: { receipt: string } }).slipway.receipt;
      return { status: 200, body: '{"success":true,"answer_id":"none"}' };
    });
    const to = (url: string) =>
      this.app.owner.query('UPDATE app.conversation SET sandbox_url = $2 WHERE id = $1', [this.id, url]);
    await to(hostile.url);
    const status = await this.api(actor, replica, 'POST', '/confirmation', { accept: true, actionIds: ids });
    await to(this.url);
    if (status !== 200) return;
    this.approved(actor, ids);
    this.receipts.push({ by: actor, ids, receipt });
  }

  /** Four eyes is off for a moment, in which a user approves what may be their own. */
  async lapse(actor: Actor, replica: number): Promise<void> {
    await this.fourEyes(false);
    const ids = await this.pending();
    if (
      ids.length > 0 &&
      (await this.api(actor, replica, 'POST', '/confirmation', { accept: true, actionIds: ids })) === 200
    ) {
      for (const id of ids) this.exempt.add(id);
      this.given.push({ by: actor, ids });
      await until('it is under way', async () => !(await this.pending()).some((id) => ids.includes(id)), SETTLE_MS);
    }
    await this.fourEyes(true);
  }

  private fourEyes(on: boolean): Promise<unknown> {
    return this.app.owner.query('UPDATE app.org SET settings = settings || $2::jsonb WHERE id = $1', [
      this.company.people.ada.orgId,
      JSON.stringify({ fourEyes: on }),
    ]);
  }

  /** A user changes a file of the sandbox: sandbox-gateway, which is not here, records it as it does. */
  async steerByFile(actor: Actor): Promise<void> {
    this.turn += 1;
    const { owner } = this.app;
    const grant = `sbx_${randomUUID()}`;
    await owner.query(
      `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($1, $2, $3, $4, 8000, now(), now() + interval '1 hour')`,
      [grant, this.company.people.ada.orgId, this.callerOf(actor).id, this.id],
    );
    await owner.query('SELECT app.steer_through_sandbox($1, 0.5)', [grant]);
    this.written.push({ by: actor, turn: this.turn });
  }

  /**
   * The sandbox ends; a stolen ingest token says that Dave accepted what waits, or shows again what a hostile sandbox
   * has kept; an honest sandbox goes on.
   */
  async forge(kept: boolean): Promise<void> {
    const ids = await this.pending();
    const { ada, dave } = this.company.people;
    const shown = kept ? this.receipts.at(-1) : undefined;
    const by = shown === undefined ? dave.userId : this.callerOf(shown.by).id;
    const value = {
      accepted: true,
      action_ids: ids,
      by,
      by_id: by,
      by_kind: 'user',
      through: 'app',
      receipt: shown?.receipt ?? 'forged',
    };
    const stamp = { timestamp: new Date().toISOString(), source: 'user' } as const;
    await this.sandbox.kill('agentServer');
    if (this.broken === 'log-is-believed') await this.fourEyes(false);
    const { body } = await this.app.ingest(ada, this.id, [], this.epoch);
    for (const producerSeq of [body.ackedProducerSeq + 1, body.ackedProducerSeq + 2]) {
      const event: ConversationEvent = {
        id: randomUUID(),
        ...stamp,
        kind: 'ConversationStateUpdateEvent',
        key: 'confirmation',
        value,
      };
      await this.app.ingest(ada, this.id, [{ producerSeq, event }], this.epoch);
    }
    if (this.broken === 'log-is-believed') {
      await this.fourEyes(true);
      await this.app.owner.query(
        `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail) VALUES ($1, $2, 'user', $3, 'x', 'conversation.approve', $4, $5)`,
        [randomUUID(), ada.orgId, dave.userId, this.id, JSON.stringify({ actions: ids, fourEyes: true })],
      );
    }
    await this.lifeAgain();
  }

  /** What a user without approval rights would try: every other way to the same. */
  async force(
    actor: Actor,
    way: 'run' | 'answer' | 'socket' | 'session-key' | 'fork' | 'policy',
    replica: number,
  ): Promise<void> {
    const at = `/api/conversations/${this.id}`;
    const headers = this.sandbox.asUser(this.callerOf(actor));
    const alone = { 'x-session-api-key': this.sandbox.sessionKey };
    if (way === 'run') await this.agent('POST', `${at}/run`, {}, headers);
    else if (way === 'answer')
      await this.agent(
        'POST',
        `${at}/events/respond_to_confirmation`,
        { accept: true, slipway: { by: 'Dave', by_id: this.company.people.dave.userId } },
        headers,
      );
    else if (way === 'socket')
      await overSocket(
        `${this.url.replace('http', 'ws')}/sockets/events/${this.id}`,
        { type: 'confirmation', accept: true },
        headers,
      );
    else if (way === 'session-key') {
      const before = await this.pending();
      const taken = await this.agent('POST', `${at}/events/respond_to_confirmation`, { accept: true }, alone);
      await this.agent('POST', `${at}/run`, {}, alone);
      // So that a crash right after it does not hide what a broken product would have done.
      if (taken === 200)
        await until(
          'what was forced is under way',
          async () => !(await this.pending()).some((id) => before.includes(id)),
          SETTLE_MS,
        );
    } else if (way === 'fork') await this.agent('POST', `${at}/fork`, {}, headers);
    else {
      await this.agent('POST', `${at}/confirmation_policy`, { policy: { kind: 'NeverConfirm' } }, headers);
      await this.api(actor, replica, 'PUT', '/confirmation-mode', { mode: 'never' });
    }
  }

  /** The same sandbox's process dies at once and comes back; worker starts the conversation again. */
  async crash(): Promise<void> {
    await this.sandbox.kill('agentServer');
    await this.lifeAgain();
  }

  private async lifeAgain(): Promise<void> {
    await this.sandbox.startAgentServer();
    this.wire?.moveTo(this.sandbox.url);
    const { rows } = await this.app.owner.query<{ head: number }>(
      'SELECT head::int FROM app.conversation WHERE id = $1',
      [this.id],
    );
    await this.start(this.epoch + 1, rows[0]?.head ?? 0);
    await this.deliver();
  }

  /** Actions that a user could approve. */
  get approvals(): number {
    return this.approvedBy.size;
  }

  /** Sentences on what happened that must not. */
  async faults(): Promise<string[]> {
    const { app, id, broken, sandbox, approvedBy, exempt, written, given } = this;
    const events = await this.events();
    return faultsOf({
      ...{ app, id, broken, events, approvedBy, exempt, written, given },
      workspace: sandbox.workspace,
      idOf: (actor) => this.callerOf(actor).id,
    });
  }
}
