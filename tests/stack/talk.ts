import type { Conversation, QueuedMessage } from '@slipway/contracts/conversations';
import type { ConversationEvent, EventOf, EventPage } from '@slipway/contracts/events';
import { ConversationWatcher, type SignedInClient, until } from '@slipway/testing';
import { expect } from 'expect';

/** One conversation as its user has it: the REST routes, and a socket that follows the log. */
export class Talk {
  readonly watcher: ConversationWatcher;
  readonly path: string;
  readonly orgId: string;
  readonly id: string;
  private readonly user: SignedInClient;

  constructor(url: string, user: SignedInClient, orgId: string, id: string) {
    this.user = user;
    this.orgId = orgId;
    this.id = id;
    this.path = `/api/v1/orgs/${orgId}/conversations/${id}`;
    this.watcher = new ConversationWatcher(url, user.cookie, { orgId, conversationId: id });
  }

  get events(): readonly ConversationEvent[] {
    return this.watcher.log.map(({ event }) => event);
  }

  of<K extends ConversationEvent['kind']>(kind: K): EventOf<K>[] {
    return this.events.filter((event): event is EventOf<K> => event.kind === kind);
  }

  /** Of an agent whose commands print a number each: these, in the order of the log. */
  get printedNumbers(): number[] {
    return this.of('ObservationEvent')
      .flatMap(({ observation: { content } }) => {
        const text = Array.isArray(content)
          ? content.map((part: object) => ('text' in part ? String(part.text) : '')).join('')
          : '';
        return /^\d+$/.exec(text.trim()) ?? [];
      })
      .map(Number);
  }

  async get(): Promise<Conversation> {
    return (await this.user.fetch(this.path)).json() as Promise<Conversation>;
  }

  async send(text: string): Promise<QueuedMessage> {
    const response = await this.user.fetch(`${this.path}/messages`, { method: 'POST', json: { text } });
    expect([response.status, await response.clone().text()]).toEqual([202, expect.any(String)]);
    return response.json() as Promise<QueuedMessage>;
  }

  post(verb: 'stop' | 'pause' | 'resume'): Promise<Response> {
    return this.user.fetch(`${this.path}/${verb}`, { method: 'POST' });
  }

  /** Waits until the agent, having taken in the message (the first one when absent), has come to this end. */
  async ended(
    status: 'finished' | 'error' | 'paused' | 'stuck',
    message?: QueuedMessage,
    timeoutMs = 60_000,
  ): Promise<void> {
    await until(
      `the conversation is ${status}${message === undefined ? '' : ' after the message'}`,
      () => {
        if (this.watcher.failure !== undefined) throw new Error(this.watcher.failure);
        const from = message === undefined ? 0 : this.events.findIndex((event) => event.id === message.id);
        const last = this.events
          .slice(Math.max(from, 0))
          .findLast((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status');
        const now = last?.kind === 'ConversationStateUpdateEvent' ? last.value : undefined;
        if (from >= 0 && now === status) return true;
        throw new Error(`it is ${String(now)}; its last events: ${JSON.stringify(this.events.slice(-3))}`);
      },
      timeoutMs,
    );
  }

  /** Waits for the end of a start that fails. */
  async startFailed(timeoutMs = 60_000): Promise<Conversation> {
    return until(
      'the start has failed',
      async () => {
        const now = await this.get();
        if (now.start.status === 'ERROR') return now;
        throw new Error(JSON.stringify(now.start));
      },
      timeoutMs,
    );
  }

  /**
   * The log by pages is the one that the socket gave: whole, in order, nothing twice, and when idle no action without
   * its answer.
   */
  async expectWholeLog(): Promise<void> {
    const { head, status } = await this.get();
    await until('the socket has all of the log', () => this.watcher.lastSeq >= head);
    const lines: EventPage['data'] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page = (await (await this.user.fetch(`${this.path}/events?limit=1000&after=${after}`)).json()) as EventPage;
      lines.push(...page.data);
      after = page.page.nextAfter;
    }
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect(new Set(lines.map(({ event }) => event.id)).size).toBe(lines.length);
    // The pages may have been read further than the head that was waited for.
    await until('the socket has all that the pages have', () => this.watcher.lastSeq >= lines.length);
    expect(this.watcher.log.slice(0, lines.length)).toEqual(lines);
    if (status === 'working') return;
    const answered = new Set(
      this.events.flatMap((event) =>
        event.kind === 'ObservationEvent' || event.kind === 'AgentErrorEvent' ? [event.tool_call_id] : [],
      ),
    );
    expect(this.of('ActionEvent').filter((action) => !answered.has(action.tool_call_id))).toEqual([]);
  }

  close(): void {
    this.watcher.close();
  }
}
