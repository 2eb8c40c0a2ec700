import { Inject, Injectable } from '@nestjs/common';
import type { BulkEdit, BulkEditResult } from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { LOGGER } from '../../platform/tokens.js';
import { RunControlService } from '../run-control.service.js';
import { ConversationEdits } from './conversation-edits.service.js';
import { ConversationTrash } from './conversation-trash.service.js';

/** Conversations at a time: a stop waits for its sandbox, and a request may not take every connection. */
const AT_A_TIME = 5;

type Result = BulkEditResult['results'][number];

/** The same edit of many conversations, each in a transaction of its own: one that fails changes nothing of others. */
@Injectable()
export class BulkEdits {
  constructor(
    private readonly edits: ConversationEdits,
    private readonly trash: ConversationTrash,
    private readonly runs: RunControlService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async run(caller: Principal, edit: BulkEdit): Promise<BulkEditResult> {
    const results: Result[] = [];
    for (let at = 0; at < edit.ids.length; at += AT_A_TIME)
      results.push(
        ...(await Promise.all(edit.ids.slice(at, at + AT_A_TIME).map((id) => this.answerOf(caller, edit, id)))),
      );
    return { results };
  }

  private async answerOf(caller: Principal, edit: BulkEdit, id: string): Promise<Result> {
    try {
      await this.one(caller, edit, id);
      return { id, outcome: 'done', code: null, detail: null };
    } catch (error) {
      if (error instanceof SlipwayError) return { id, outcome: 'failed', code: error.code, detail: error.message };
      this.logger.error({ err: error, conversation_id: id }, 'bulk edit of a conversation failed');
      return {
        id,
        outcome: 'failed',
        code: 'internal.unexpected',
        detail: 'It failed for a reason that is not yours. Try again.',
      };
    }
  }

  private async one(caller: Principal, edit: BulkEdit, id: string): Promise<void> {
    switch (edit.action) {
      case 'tag':
        return this.edits.edit(caller, id, {
          tags: (before) => [...new Set([...before, ...edit.add])].filter((tag) => !edit.remove.includes(tag)),
        });
      case 'archive':
      case 'unarchive':
        return this.edits.edit(caller, id, { archived: edit.action === 'archive' });
      case 'stop':
        return this.runs.stop(caller, id);
      case 'delete':
        return this.trash.delete(caller, id);
      case 'restore':
        return this.trash.restore(caller, id);
    }
  }
}
