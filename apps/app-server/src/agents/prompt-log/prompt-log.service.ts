import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { PromptLogMode, type PromptLogQuery, PromptPage } from '@slipway/contracts/models';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';

/** Longest wait for a page of the gateway. Milliseconds. */
const PAGE_MS = 15_000;

/** @throws SlipwayError `permission.denied` */
export function assertMayKeepPrompts(caller: Principal): void {
  if (!caller.permissions.has('prompt-log:write'))
    throw new SlipwayError('permission.denied', 'Only an owner says whether prompts are kept.');
}

@Injectable()
export class PromptLogService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
  ) {}

  /**
   * Who may say how long prompts are kept, and where.
   * @throws SlipwayError `permission.denied` for who is no owner; to keep any: `settings.not-here` when the
   * installation keeps none, `service.unavailable` when the gateway does not say.
   */
  async allow(caller: Principal, days: number | null): Promise<void> {
    assertMayKeepPrompts(caller);
    if (days === null) return;
    const { mode } = await this.ask(PromptLogMode, '/internal/prompt-log');
    if (mode === 'never') throw new SlipwayError('settings.not-here', 'This installation stores no prompts.');
  }

  /**
   * Recorded before its first byte: an export that breaks off was one too. Read no faster than it is taken; ends
   * without its last line when the gateway fails on the way.
   * @throws SlipwayError `service.unavailable` when the gateway does not answer at all.
   */
  async export(caller: Principal, query: PromptLogQuery): Promise<Readable> {
    const { orgId } = caller;
    const first = await this.page(orgId, query, null);
    await inOrg(this.pool, orgId, (client) =>
      client.query(auditOf(this.ids.uuid(), caller, { action: 'prompt-log.export', target: orgId, detail: query })),
    );
    return Readable.from(this.lines(orgId, query, first), { objectMode: false });
  }

  private async *lines(
    orgId: string,
    query: PromptLogQuery,
    first: PromptPage,
  ): AsyncGenerator<string, void, undefined> {
    let count = 0;
    for (let page = first; ; page = await this.page(orgId, query, page.next)) {
      for (const entry of page.data) yield `${JSON.stringify({ kind: 'prompt', ...entry })}\n`;
      count += page.data.length;
      if (page.next === null) break;
    }
    yield `${JSON.stringify({ kind: 'end', count })}\n`;
  }

  private page(orgId: string, query: PromptLogQuery, after: string | null): Promise<PromptPage> {
    const given = Object.entries({ ...query, ...(after === null ? {} : { after }) }).filter(
      ([, value]) => value !== undefined,
    );
    return this.ask(PromptPage, `/internal/prompts/${encodeURIComponent(orgId)}?${new URLSearchParams(given)}`);
  }

  private async ask<T extends z.ZodType>(schema: T, path: string): Promise<z.output<T>> {
    try {
      const response = await fetch(new URL(path, this.config.LLM_GATEWAY_URL), {
        headers: { authorization: `Bearer ${this.config.LLM_GATEWAY_MASTER_KEY}` },
        signal: AbortSignal.timeout(PAGE_MS),
      });
      if (!response.ok) throw new Error(`llm-gateway answered ${response.status}`);
      return schema.parse(await response.json());
    } catch (error) {
      throw new SlipwayError('service.unavailable', 'The model gateway does not answer.', {
        cause: error,
        retryAfterSeconds: 3,
      });
    }
  }
}
