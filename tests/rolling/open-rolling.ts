import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Conversation } from '@slipway/contracts/conversations';
import {
  type Lasted,
  type ModelRequest,
  type ModelServer,
  type ModelTurn,
  type RedisServer,
  type SignedInClient,
  startModelServer,
  startRedisServer,
  until,
} from '@slipway/testing';
import { expect } from 'expect';
import { finish, ScriptBook, terminal } from '../stack/script-book.ts';
import { Talk } from '../stack/talk.ts';
import { Fleet, type FleetOptions, THIS_VERSION } from './fleet.ts';
import { Load } from './load.ts';
import { SandboxSocket } from './sandbox-socket.ts';

export interface RollingOptions extends Partial<Omit<FleetOptions, 'folder'>> {
  readonly conversations: number;
  readonly perSecond: number;
  /** How long a step of a conversation takes, beside what it costs. Seconds [0.3]. */
  readonly stepSeconds?: number;
}

const START_MS = 60_000;
const END_MS = 60_000;
/** Two sandboxes start at a time: the machine has two cores. */
const POOL_TARGET = 2;

/** Everything on two replicas, conversations that work until they are stopped, and people who read and write. */
export class OpenRolling {
  readonly fleet: Fleet;
  readonly redis: RedisServer | null;
  readonly talks: Talk[] = [];
  /** One a conversation that was there from the beginning. */
  readonly sandboxSockets: SandboxSocket[] = [];
  load!: Load;
  private readonly user: SignedInClient;
  private readonly model: ModelServer;
  private readonly book: ScriptBook;
  private readonly folder: string;
  private readonly stepSeconds: number;
  private ending = false;

  private constructor(parts: {
    fleet: Fleet;
    redis: RedisServer | null;
    user: SignedInClient;
    model: ModelServer;
    book: ScriptBook;
    folder: string;
    stepSeconds: number;
  }) {
    this.fleet = parts.fleet;
    this.redis = parts.redis;
    this.user = parts.user;
    this.model = parts.model;
    this.book = parts.book;
    this.folder = parts.folder;
    this.stepSeconds = parts.stepSeconds;
  }

  static async open(options: RollingOptions): Promise<OpenRolling> {
    const { version = THIS_VERSION } = options;
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-rolling-'));
    const book = new ScriptBook();
    const model = await startModelServer({ script: book.script });
    const redis = await startRedisServer();
    const fleet = await Fleet.open({
      drainSeconds: options.drainSeconds ?? 2,
      folder,
      redisUrl: redis?.url,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        LLM_BASE_URL: model.url,
        LLM_API_KEY: 'scripted',
        LLM_MODEL: 'scripted',
        ORG_SANDBOX_LIMIT: '40',
        POOL_TARGET: String(POOL_TARGET),
        ...options.env,
      },
      standby: options.standby ?? false,
      version,
    });
    const rolling = new OpenRolling({
      fleet,
      redis,
      user: await version.signIn(fleet.url),
      model,
      book,
      folder,
      stepSeconds: options.stepSeconds ?? 0.3,
    });
    for (let index = 0; index < options.conversations; index += 1) await rolling.begin(`talk-${index}`);
    await until(
      'every conversation works',
      () => rolling.talks.every((talk) => talk.of('ObservationEvent').length > 0),
      START_MS,
    );
    for (const talk of rolling.talks)
      rolling.sandboxSockets.push(await SandboxSocket.open(rolling.user, talk.path, talk.id));
    await until(
      'every socket through sandbox-gateway is open',
      () => rolling.sandboxSockets.every((socket) => socket.isOpen),
      START_MS,
    );
    rolling.load = new Load(rolling.user, rolling.talks, options.perSecond);
    return rolling;
  }

  /** A conversation that counts its steps in a file, and shows the count, until `finish`. */
  async begin(name: string): Promise<Talk> {
    const harness = (_request: ModelRequest): ModelTurn =>
      this.ending ? finish() : terminal(`sleep ${this.stepSeconds}; echo step >> steps.txt; wc -l < steps.txt`);
    const orgId = this.user.me.orgs[0]?.id ?? '';
    const response = await this.user.fetch(`/api/v1/orgs/${orgId}/conversations`, {
      method: 'POST',
      json: { prompt: this.book.write(name, harness) },
      headers: { 'idempotency-key': name },
    });
    expect([response.status, await response.clone().text()]).toEqual([201, expect.any(String)]);
    const talk = new Talk(this.fleet.url, this.user, orgId, ((await response.json()) as Conversation).id);
    this.talks.push(talk);
    return talk;
  }

  /** Every conversation makes a step after this moment, and it is seen on both of its sockets. */
  async goesOn(what: string, withinMs = 30_000): Promise<void> {
    const before = new Map(this.talks.map((talk) => [talk, talk.of('ObservationEvent').length]));
    const frames = this.sandboxSockets.map((socket) => socket.frames);
    await until(
      `${what}: every conversation goes on`,
      () =>
        this.talks.every((talk) => talk.of('ObservationEvent').length > (before.get(talk) ?? 0)) &&
        this.sandboxSockets.every((socket, index) => socket.isOpen && socket.frames > (frames[index] ?? 0)),
      withinMs,
    );
  }

  /** Outages of sockets since the last time. */
  takeOutages(): Lasted[] {
    return this.talks.flatMap(({ watcher }) => watcher.outages.splice(0));
  }

  /** The same of the sockets through sandbox-gateway. */
  takeSandboxSocketOutages(): Lasted[] {
    return this.sandboxSockets.flatMap(({ outages }) => outages.splice(0));
  }

  /**
   * Ends the load and the conversations. @returns what is wrong with their logs, in words: nothing lost, nothing twice,
   * no step done twice.
   */
  async finish(): Promise<string[]> {
    await this.load.stop();
    this.ending = true;
    const wrong: string[] = [];
    for (const talk of this.talks) {
      const sent = this.load.sent.get(talk.id) ?? [];
      await until(
        'the conversation has taken in its messages and has ended',
        async () => {
          const { status, queued } = await talk.get();
          if (status === 'finished' && queued.length === 0) return true;
          throw new Error(`${status}, ${queued.length} queued, ${JSON.stringify(talk.events.slice(-2)).slice(0, 800)}`);
        },
        END_MS,
      );
      await talk.expectWholeLog();
      for (const id of sent) {
        const times = talk.events.filter((event) => event.id === id).length;
        if (times !== 1) wrong.push(`message ${id} stands ${times} times in the log of ${talk.id}`);
      }
      const counts = talk
        .of('ObservationEvent')
        .flatMap(({ observation }) => /^\d+$/.exec(textOf(observation).trim()) ?? [])
        .map(Number);
      const expected = counts.map((_, index) => index + 1);
      if (counts.length === 0 || JSON.stringify(counts) !== JSON.stringify(expected))
        wrong.push(`steps of ${talk.id} were not made once each: ${counts.join(' ')}`);
    }
    return wrong;
  }

  async close(): Promise<void> {
    await this.load?.stop();
    for (const talk of this.talks) talk.close();
    for (const socket of this.sandboxSockets) socket.close();
    await this.fleet.close();
    await this.redis?.stop();
    await this.model.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function textOf(observation: Readonly<Record<string, unknown>>): string {
  const { content } = observation;
  return Array.isArray(content)
    ? content.map((part: { text?: string }) => part.text ?? '').join('')
    : String(content ?? '');
}
