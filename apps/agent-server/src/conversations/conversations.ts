import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { AgentConfirmation, ForkConversationRequest, StartConversationRequest } from '@slipway/contracts/agent';
import { settingsOfMode } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Author } from '../log/authors.js';
import { Pictures } from '../sandbox/pictures.js';
import { OrgConfirmation } from '../settings/org-confirmation.js';
import { Conversation } from './conversation.js';
import type { ConversationDeps } from './conversation-deps.js';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** The conversations of this sandbox: those that were started, and those that a previous process left on disk. */
export class Conversations {
  private readonly open = new Map<string, Promise<Conversation>>();
  /** Starts of one conversation wait for each other. */
  private readonly starting = new Map<string, Promise<unknown>>();
  private found: Promise<void> | undefined;
  readonly orgConfirmation: OrgConfirmation;
  private readonly deps: ConversationDeps;

  constructor(
    readonly directory: string,
    deps: Omit<ConversationDeps, 'fourEyes' | 'pictures'>,
  ) {
    const orgConfirmation = new OrgConfirmation(path.dirname(directory));
    this.orgConfirmation = orgConfirmation;
    const pictures = new Pictures(deps.actionServer);
    this.deps = { ...deps, pictures, fourEyes: () => orgConfirmation.fourEyes };
  }

  /** @param author of the first message. @returns the conversation, and whether it is new here. */
  async start(
    request: StartConversationRequest,
    author: Author = {},
  ): Promise<{ conversation: Conversation; created: boolean }> {
    const id = request.conversation_id?.toLowerCase() ?? randomUUID();
    this.orgConfirmation.hold(request.slipway?.orgConfirmation ?? request.slipway?.brake);
    const before = this.starting.get(id);
    const turn = (async () => {
      await before?.catch(() => undefined);
      await this.discover();
      const created = !this.open.has(id);
      if (created)
        this.open.set(
          id,
          Conversation.create(id, { directory: path.join(this.directory, id), request, deps: this.deps }),
        );
      const conversation = (await this.open.get(id)) as Conversation;
      try {
        await conversation.start(request, author);
        return { conversation, created };
      } catch (error) {
        if (created) {
          this.open.delete(id);
          await conversation.close();
        }
        throw error;
      }
    })();
    this.starting.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.starting.get(id) === turn) this.starting.delete(id);
    }
  }

  /**
   * A conversation of its own that knows what `id` knows; it belongs to no app. @throws SlipwayError
   * `resource.not-found`, `conversation.not-running`, `conversation.exists`.
   */
  async fork(id: string | undefined, wanted: ForkConversationRequest): Promise<Conversation> {
    const { request, events } = (await this.get(id)).fork(wanted);
    const forkId = wanted.id?.toLowerCase() ?? randomUUID();
    if (this.open.has(forkId))
      throw new SlipwayError('conversation.exists', 'There is a conversation with this id already.');
    const making = Conversation.create(forkId, {
      directory: path.join(this.directory, forkId),
      request,
      deps: this.deps,
      events,
    });
    this.open.set(forkId, making);
    try {
      const fork = await making;
      fork.describe(wanted);
      await fork.start(request);
      return fork;
    } catch (error) {
      this.open.delete(forkId);
      throw error;
    }
  }

  /**
   * The app's conversation gets its policy; forks, which the app does not know, at least the organization's floor.
   * @throws SlipwayError `sandbox.disk-full`.
   */
  async applyConfirmation(
    conversation: Conversation,
    { organization, ...asked }: AgentConfirmation,
    chosen: boolean,
  ): Promise<void> {
    await conversation.confirmation.applyFromApp(asked, chosen);
    this.orgConfirmation.hold(organization);
    const others = (await this.list()).filter((other) => other !== conversation);
    await Promise.all(others.map((other) => other.confirmation.atLeast(settingsOfMode(organization.floor))));
  }

  /** @throws SlipwayError `resource.not-found`, also for one that waits for the app to start it again. */
  async get(id: string | undefined): Promise<Conversation> {
    if (id === undefined || !UUID.test(id)) throw notFound();
    await this.discover();
    const plain = id.toLowerCase().replaceAll('-', '');
    const conversation = await this.open.get(plain.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
    if (conversation === undefined || conversation.awaitsApp) throw notFound();
    return conversation;
  }

  async list(): Promise<Conversation[]> {
    await this.discover();
    return (await Promise.all(this.open.values())).filter((conversation) => !conversation.awaitsApp);
  }

  async remove(id: string | undefined): Promise<void> {
    const conversation = await this.get(id);
    this.open.delete(conversation.id);
    await conversation.delete();
  }

  /** Those in use by this process; nothing is read from disk. */
  async opened(): Promise<Conversation[]> {
    const settled = await Promise.allSettled(this.open.values());
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  /** Resolves when the disk holds every event that was acknowledged. */
  async settled(): Promise<void> {
    await Promise.all((await this.opened()).map((conversation) => conversation.log.settled()));
  }

  /** Reads, once, what is on disk. */
  private discover(): Promise<void> {
    this.found ??= (async () => {
      const names = await readdir(this.directory).catch(() => []);
      for (const name of names.filter((name) => UUID.test(name))) {
        const restored = await Conversation.restore(path.join(this.directory, name), this.deps);
        if (restored !== null) this.open.set(name, Promise.resolve(restored));
      }
    })();
    return this.found;
  }
}
