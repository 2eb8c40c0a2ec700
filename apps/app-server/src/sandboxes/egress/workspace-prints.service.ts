import { Inject, Injectable } from '@nestjs/common';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import {
  MAX_PRINTS_BYTES,
  type WorkspacePrintsAnswer,
  type WorkspacePrintsQuestion,
} from '@slipway/contracts/sandboxes';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import { readSandbox } from '../../conversations/conversations.queries.js';
import { reachSandbox } from '../../conversations/reach-sandbox.js';
import { LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { UUID } from './egress-decisions.service.js';

/** Shorter than credential-broker waits; a sandbox that needs longer is asked again. Milliseconds. */
const ANSWER_MS = 2_500;
/** Sandboxes that are asked at once: each answer takes some three times its size while it is read. */
const MAX_ASKED = 16;
const NONE: WorkspacePrintsAnswer = { prints: null };

/** Fingerprints of workspaces, for credential-broker, which has no way into a sandbox. */
@Injectable()
export class WorkspacePrintsService {
  private asked = 0;

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly keys: SandboxKeys,
  ) {}

  /** None for a conversation whose sandbox does not answer in time, or of another organization. Never fails. */
  async of({ org, conversation }: WorkspacePrintsQuestion): Promise<WorkspacePrintsAnswer> {
    if (!UUID.test(conversation) || this.asked >= MAX_ASKED) return NONE;
    this.asked += 1;
    try {
      const row = await readSandbox(this.pool, org, conversation);
      const agent = row === null ? null : reachSandbox(this.keys, conversation, row, ['run', 'rest']);
      if (row === null || agent === null) return NONE;
      const query = { path: row.workingDir ?? '.' };
      return {
        prints: await agent.call('fingerprints', { query }, { timeoutMs: ANSWER_MS, maxBytes: MAX_PRINTS_BYTES }),
      };
    } catch (err) {
      this.logger.debug({ err, org_id: org, conversation_id: conversation }, 'sandbox did not say its fingerprints');
      return NONE;
    } finally {
      this.asked -= 1;
    }
  }
}
