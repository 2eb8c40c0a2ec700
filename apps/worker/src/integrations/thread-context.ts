import { inOrg, type SqlPool } from '@slipway/db/sql';
import {
  type Actor,
  type Authority,
  type Intent,
  isOurText,
  type Provider,
  ProviderRefusal,
  type Said,
} from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import type { Logger } from '@slipway/telemetry';
import { lastAskedInThread } from './acts.queries.js';
import type { ConnectionCalls } from './connection-calls.js';
import type { AskWriteAccess } from './write-access.js';

/** For all requests together: whoever asked waits for the first step. Milliseconds. */
const READ_MS = 4_000;
/** Authors whose rights are asked for; the others, older ones, count as outsiders. */
const MAX_AUTHORS = 10;
/** Our clock and the host's need not agree. Milliseconds. */
const CLOCKS_MS = 60_000;

/** What else a thread holds, with who may write there. */
export interface ThreadContext {
  readonly said: readonly Said[];
  /** By the provider's id of the author; who is missing may not write there, as far as is known. */
  readonly authorities: ReadonlyMap<string, Authority>;
  /** Why it is not all; `null`: it is. */
  readonly incomplete: string | null;
}

export const NO_CONTEXT: ThreadContext = { said: [], authorities: new Map(), incomplete: null };

/**
 * Reads the other messages of a thread at its provider. An unreadable thread does not block: the agent gets the content
 * of the delivery, and a note that there is more.
 */
export class ThreadReader {
  constructor(
    private readonly pool: SqlPool,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly ask: AskWriteAccess,
    private readonly logger: Logger,
  ) {}

  /**
   * @param fresh the conversation has not heard of the thread yet: else it is given what was said since it last did.
   */
  async read(
    orgId: string,
    connection: StoredConnection,
    { intent, fresh }: { readonly intent: Intent; readonly fresh: boolean },
    signal: AbortSignal,
  ): Promise<ThreadContext> {
    const threads = this.providers.get(connection.provider)?.threads;
    if (threads === undefined) return NO_CONTEXT;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
    try {
      const since = fresh
        ? null
        : await inOrg(this.pool, orgId, (client) => lastAskedInThread(client, orgId, connection.id, intent.thread.key));
      const need =
        intent.repository === null ? {} : { repository: intent.repository.fullName, step: 'threads' as const };
      const opened = await this.calls.open(orgId, connection, threads, need);
      if (opened === null) return incompleteContext('the connection has no access token');
      const { said, more } = await threads.read(opened.client(limit), intent.thread);
      const others = said.filter((each) => isOf(each, intent, since, connection));
      const authorities = await this.authoritiesOf(orgId, connection, { intent, said: others }, limit);
      return { said: others, authorities, incomplete: more ? 'it is too long' : null };
    } catch (error) {
      signal.throwIfAborted();
      this.logger.warn({ connection_id: connection.id, err: error }, 'failed to read the earlier messages of a thread');
      return incompleteContext(
        error instanceof ProviderRefusal && error.kind === 'limited'
          ? 'the provider limits our calls'
          : 'the provider did not answer as it should',
      );
    }
  }

  private async authoritiesOf(
    orgId: string,
    connection: StoredConnection,
    { intent: { actor, repository, subject }, said }: { readonly intent: Intent; readonly said: readonly Said[] },
    signal: AbortSignal,
  ): Promise<Map<string, Authority>> {
    const known = new Map<string, Authority>([
      [actor.id, 'write'],
      ...connection.own.ids.map((id) => [id, 'ours'] as const),
    ]);
    const unknown = new Map<string, Actor>();
    for (const author of [
      ...(subject === null ? [] : [subject.author]),
      ...said.toReversed().map(({ passage }) => passage.author),
    ])
      if (!known.has(author.id) && author.kind === 'user' && unknown.size < MAX_AUTHORS) unknown.set(author.id, author);
    await Promise.all(
      [...unknown.values()].map(async (author) => {
        const { access } = await this.ask(orgId, connection, { repository, actor: author }, signal);
        if (access === 'write') known.set(author.id, 'write');
      }),
    );
    return known;
  }
}

/** Of the thread, beside the words that started this and our own reports, and since then. */
function isOf({ passage, lines }: Said, intent: Intent, since: Date | null, { own }: StoredConnection): boolean {
  if (own.ids.includes(passage.author.id) || isOurText(passage.text) || (passage.text.trim() === '' && lines === null))
    return false;
  if (
    passage.id === intent.instruction.id ||
    (passage.text === intent.instruction.text && passage.author.id === intent.actor.id)
  )
    return false;
  return since === null || passage.createdAt === null || Date.parse(passage.createdAt) > since.getTime() - CLOCKS_MS;
}

const incompleteContext = (incomplete: string): ThreadContext => ({ ...NO_CONTEXT, incomplete });
