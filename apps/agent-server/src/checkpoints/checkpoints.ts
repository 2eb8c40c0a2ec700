import path from 'node:path';
import type { Logger } from '@slipway/telemetry';
import type { WorkspaceCheckpoints } from '../sandbox/workspace-checkpoints.js';
import { ConversationCheckpoints } from './conversation-checkpoints.js';

export interface CheckpointsOptions {
  /** Of the conversations' own folders. */
  readonly directory: string;
  readonly workspace: WorkspaceCheckpoints;
  /** Bytes on disk of what is not durable yet, of one conversation. */
  readonly maxStagedBytes: number;
  readonly logger: Logger;
}

/** Those of every conversation of this sandbox, also of one that has not started yet. */
export class Checkpoints {
  private readonly all = new Map<string, ConversationCheckpoints>();

  constructor(private readonly options: CheckpointsOptions) {}

  /** @param id a UUID in lower case: it becomes a part of a path. */
  of(id: string): ConversationCheckpoints {
    const known = this.all.get(id);
    if (known !== undefined) return known;
    const { directory, workspace, maxStagedBytes, logger } = this.options;
    const place = path.join(directory, id, 'checkpoints');
    const made = new ConversationCheckpoints(id, place, workspace, maxStagedBytes, logger);
    this.all.set(id, made);
    return made;
  }
}
