import { Inject, Injectable } from '@nestjs/common';
import {
  type Desk,
  type DeskConversation,
  type DeskMark,
  type DeskQuery,
  MAX_DESK_ROWS,
  MAX_SNOOZE_DAYS,
  type PutReadMark,
  type ReadMark,
  type SetDeskMark,
} from '@slipway/contracts/conversations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type Clock } from '@slipway/domain';
import { type Decided, type DeskMarks, decide, deskOf, NO_MARKS } from '@slipway/domain/desk';
import { notFound, SlipwayError } from '@slipway/errors';
import { Hubs } from '../../log/events/hubs.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { CLOCK, SQL_POOL } from '../../platform/tokens.js';
import { askersOf } from '../confirmation/askers.queries.js';
import { MAX_CONSIDERED, readDesk } from './desk.queries.js';
import { putReadMark, readMarks, setDeskMark } from './read-marks.queries.js';

/** Approvals for which one answer finds out whether the caller is an asker; of the others they learn it by trying. */
const MAX_EYES = 50;
const DAY_MS = 24 * 60 * 60 * 1000;

interface Row extends Decided<DeskConversation> {
  readonly mark: DeskMarks;
}

/** What waits for whom, and what each user has looked at. */
@Injectable()
export class DeskService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly hubs: Hubs,
  ) {}

  async desk(caller: Principal, { owner }: DeskQuery): Promise<Desk> {
    const now = this.clock.now();
    return inOrg(this.pool, caller.orgId, async (client) => {
      const found = await readDesk(client, caller.orgId, { owner });
      const marks = await readMarks(
        client,
        caller.orgId,
        caller.actor.id,
        found.map(({ id }) => id),
      );
      const rows = deskOf(
        found.map((facts): Row => {
          const mark = marks.get(facts.id) ?? NO_MARKS;
          return { ...decide(facts, mark, now.getTime()), mark };
        }),
      );
      const shown = rows.slice(0, MAX_DESK_ROWS);
      const mayDecide = await this.mayDecide(client, caller, shown);
      return {
        rows: shown.map(({ facts, ...row }, index) => ({
          ...row,
          conversation: facts,
          mayDecide: mayDecide[index] ?? 'yes',
        })),
        more: rows.length > shown.length || found.length >= MAX_CONSIDERED,
        at: now.toISOString(),
      };
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async read(caller: Principal, conversationId: string, body: PutReadMark): Promise<ReadMark> {
    const of = { conversationId, userId: caller.actor.id };
    const mark = await inOrg(this.pool, caller.orgId, (client) => putReadMark(client, caller.orgId, of, body));
    if (mark === null) throw notFound();
    this.hubs.markChanged(caller.orgId, conversationId, caller.actor.id);
    return mark;
  }

  /** @throws SlipwayError `resource.not-found`, `request.invalid` for a snooze that is too long. */
  async mark(caller: Principal, conversationId: string, body: SetDeskMark): Promise<DeskMark> {
    const until = body.snoozedUntil;
    if (until != null && Date.parse(until) > this.clock.now().getTime() + MAX_SNOOZE_DAYS * DAY_MS)
      throw new SlipwayError('request.invalid', `snoozedUntil: is more than ${MAX_SNOOZE_DAYS} days ahead`, {
        fields: [{ path: 'snoozedUntil', message: `is more than ${MAX_SNOOZE_DAYS} days ahead` }],
      });
    const of = { conversationId, userId: caller.actor.id };
    const mark = await inOrg(this.pool, caller.orgId, (client) => setDeskMark(client, caller.orgId, of, body));
    if (mark === null) throw notFound();
    this.hubs.markChanged(caller.orgId, conversationId, caller.actor.id);
    return mark;
  }

  /** What is shown is a hint: the rule is enforced where the answer is given. */
  private async mayDecide(
    client: PoolClient,
    caller: Principal,
    rows: readonly Row[],
  ): Promise<ReadonlyArray<Desk['rows'][number]['mayDecide']>> {
    const { fourEyes } = await readOrgSettings(client, caller.orgId);
    const answers: Array<Desk['rows'][number]['mayDecide']> = [];
    let asked = 0;
    for (const { decisions, facts } of rows) {
      const needed = decisions[0]?.kind === 'allow' ? 'egress:answer' : 'conversation:write';
      if (!caller.permissions.has(needed)) {
        answers.push('permission');
        continue;
      }
      const isApproval =
        fourEyes && asked < MAX_EYES && decisions.some(({ kind }) => kind === 'approve' || kind === 'allow');
      if (isApproval) asked += 1;
      const isBarred =
        isApproval &&
        (caller.actor.kind !== 'user' || (await askersOf(client, caller.orgId, facts.id)).has(caller.actor.id));
      answers.push(isBarred ? 'four-eyes' : 'yes');
    }
    return answers;
  }
}
