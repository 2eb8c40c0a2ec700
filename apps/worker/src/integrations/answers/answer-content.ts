import { createHash } from 'node:crypto';
import { DEFAULT_PROCESSORS } from '@slipway/contracts/integrations';
import type { PoolClient } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Answer, AnswerAccess } from '@slipway/integrations';
import { type AnswerRow } from './answers.queries.js';
import { progressOf, replyOf, statusOf } from './progress.js';
import { readProgress, readStep } from './progress.queries.js';
import { readyReply } from './replies.queries.js';

/** What an answer is to show. */
export interface Shown {
  /** `null`: no text, or one that is known after the provider was asked. */
  readonly answer: Answer | null;
  readonly hash: string;
  /** Of a status: what the agent does now; `null`: nothing. */
  readonly status?: string | null;
  /** It may be shown some seconds late. */
  readonly calm: boolean;
  /** It changes without a change of the conversation's state. */
  readonly moving: boolean;
}

/** What a notice shows is known after the provider was asked, and does not change. */
const WORDLESS = { answer: null, calm: false, moving: false } as const;

/** Of a reply: neither work nor buttons. */
const NO_MORE = { follows: false, buttons: false } as const;

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** What each kind of answer is to show, from the state of its conversation. */
export class AnswerContent {
  constructor(
    private readonly clock: Clock,
    /** Where Slipway's pages are; `null`: answers have no link. */
    private readonly publicUrl: string | null,
  ) {}

  urlOf(orgSlug: string, conversationId: string): string | null {
    return this.publicUrl === null ? null : new URL(`/${orgSlug}/conversations/${conversationId}`, this.publicUrl).href;
  }

  /** `null`: nothing, any more. */
  async of(client: PoolClient, orgId: string, row: AnswerRow, access: AnswerAccess): Promise<Shown | null> {
    switch (row.kind) {
      case 'seen':
      case 'notice':
        return { ...WORDLESS, hash: row.kind };
      case 'choice': {
        const answer = {
          state: 'waiting',
          headline: 'Which repository is this about?',
          said: null,
          links: [],
          choosesRepository: true,
        } as const;
        return { ...WORDLESS, answer: { ...answer, marker: row.marker }, hash: row.kind };
      }
      case 'link':
      case 'move':
        return { ...WORDLESS, hash: hashOf(row.detail) };
      case 'status':
        return this.status(client, orgId, row, access);
      case 'progress':
        return this.progress(client, orgId, row, access);
      case 'reply':
        return this.dueReply(client, orgId, row, access);
    }
  }

  private async progress(
    client: PoolClient,
    orgId: string,
    row: AnswerRow,
    access: AnswerAccess,
  ): Promise<Shown | null> {
    const follows = access.follows?.(row.place) === true;
    const { comment } = { ...DEFAULT_PROCESSORS, ...row.connection.settings.processors };
    if (row.conversationId === null || !(comment || follows)) return null;
    const facts = await readProgress(client, orgId, row.conversationId, {
      thread: { connectionId: row.connection.id, key: row.threadKey },
      shows: {
        follows,
        buttons: access.buttons === true,
      },
    });
    if (facts === null) return null;
    const { answer, calm } = progressOf(facts, this.urlOf(facts.orgSlug, row.conversationId));
    // The same words after another request are another message.
    const hash = hashOf(facts.work === undefined ? answer : { answer, heard: facts.work.heard });
    return {
      calm,
      hash,
      answer: { ...answer, marker: row.marker, revision: row.revision },
      moving: follows && facts.status === 'working',
    };
  }

  /** `null`: nothing was shown, and nothing is to be. */
  private async status(client: PoolClient, orgId: string, row: AnswerRow, access: AnswerAccess): Promise<Shown | null> {
    if (row.conversationId === null || access.status === undefined) return null;
    const now = await readStep(client, orgId, row.conversationId, {
      connectionId: row.connection.id,
      key: row.threadKey,
    });
    const words = now === null ? null : statusOf(now);
    if (words === null) return row.shown === null ? null : { ...WORDLESS, status: null, hash: 'none' };
    const hash = hashOf([words, Math.floor(this.clock.now().getTime() / access.status.lastsMs)]);
    return { answer: null, status: words, hash, calm: true, moving: true };
  }

  /** `null`: its message is not done with, or not pushed. */
  private async dueReply(
    client: PoolClient,
    orgId: string,
    row: AnswerRow,
    access: AnswerAccess,
  ): Promise<Shown | null> {
    const due = readyReply(row.detail);
    if (row.conversationId === null || due === null || access.replies !== true) return null;
    const facts = await readProgress(client, orgId, row.conversationId, {
      thread: { connectionId: row.connection.id, key: row.threadKey },
      shows: NO_MORE,
    });
    if (facts === null) return null;
    const answer = {
      ...replyOf(facts, due.sha, this.urlOf(facts.orgSlug, row.conversationId)),
      marker: row.marker,
      revision: row.revision,
    };
    return { ...WORDLESS, answer, hash: row.kind };
  }
}
