import { Inject, Injectable } from '@nestjs/common';
import type { ThreadAnswerList } from '@slipway/contracts/integrations';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { notFound } from '@slipway/errors';
import { SQL_POOL } from '../../platform/tokens.js';
import { listThreadAnswers } from './thread-answers.queries.js';

/** A conversation belongs to one thread, or to few. */
const MAX_ANSWERS = 100;

@Injectable()
export class ThreadAnswersService {
  constructor(@Inject(SQL_POOL) private readonly pool: SqlPool) {}

  /** @throws SlipwayError `resource.not-found` */
  async list({ orgId }: Principal, conversationId: string): Promise<ThreadAnswerList> {
    const rows = await inOrg(this.pool, orgId, (client) =>
      listThreadAnswers(client, orgId, conversationId, MAX_ANSWERS),
    );
    if (rows === null) throw notFound();
    const data = rows.map((row) => ({
      kind: row.kind,
      connectionId: row.connection_id,
      provider: row.provider,
      threadTitle: row.title,
      threadUrl: row.thread_url,
      state: row.state,
      url: row.url,
      problem: row.problem,
      nextTryAt: row.state === 'waiting' ? (row.retry_at?.toISOString() ?? null) : null,
      updatedAt: row.updated_at.toISOString(),
    }));
    return { data };
  }
}
