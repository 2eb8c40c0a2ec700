import { Inject, Injectable } from '@nestjs/common';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import { type Principal } from '@slipway/contracts/organizations';
import { type TurnHunk } from '@slipway/contracts/repositories';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { visibleMarks } from '@slipway/domain/review';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { readSandbox } from '../conversations.queries.js';
import { reachSandbox } from '../reach-sandbox.js';
import { folderOf } from './compared-side.js';

/** One file is read and written, with the tool process asked through agent-server. Milliseconds. */
const TURN_TIMEOUT_MS = 15_000;

/** Takes one hunk of what the agent changed back, in its sandbox, while the agent is idle. */
@Injectable()
export class TurnHunkService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly keys: SandboxKeys,
  ) {}

  /**
   * The same `event` again is the same act. The agent finds it in the log, with who did it.
   * @throws SlipwayError `resource.not-found`, `conversation.not-running`, `conversation.busy`, `changes.moved`,
   * `repository.not-found`, `file.too-large`, `sandbox.unreachable`.
   */
  async turn(caller: Principal, id: string, body: TurnHunk, event: string = this.ids.uuid()): Promise<void> {
    const { orgId, actor } = caller;
    const { repository, ...hunk } = body;
    const row = await readSandbox(this.pool, orgId, id);
    if (row === null) throw notFound();
    const agent = reachSandbox(this.keys, id, row, ['run']);
    const path = folderOf(row, repository);
    if (agent === null || path === null)
      throw new SlipwayError('conversation.not-running', 'Its sandbox is paused, and the workspace with it.');
    await agent.call(
      'turnHunk',
      { id, body: { ...hunk, path, event_id: event, notice: noticeOf(actor.label, body) } },
      { timeoutMs: TURN_TIMEOUT_MS },
    );
    const detail = { path: hunk.file, lines: linesOf(hunk.hunk), ...(repository === undefined ? {} : { repository }) };
    const action = `changes.${hunk.direction}-hunk`;
    await inOrg(this.pool, orgId, (client) =>
      client.query(auditOf(this.ids.uuid(), caller, { action, target: id, detail })),
    );
  }
}

/** One line that says to the agent what is not its own work. */
function noticeOf(by: string, { file, hunk, direction }: TurnHunk): string {
  const what = direction === 'revert' ? 'took a change back' : 'put a change back that had been taken back';
  return `${visibleMarks(by)} ${what} in ${JSON.stringify(file)}, lines ${linesOf(hunk)}. Leave it so unless you are asked to change it.`;
}

/** `12-19`, of the side that the change made; of one without lines the place. */
function linesOf(hunk: string): string {
  const [, start = '0', count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(hunk) ?? [];
  return Number(count) > 1 ? `${start}-${Number(start) + Number(count) - 1}` : start;
}
