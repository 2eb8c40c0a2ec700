import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import { Hubs } from '../log/events/hubs.js';
import { ConversationsService } from './conversations.service.js';

/** Longest that a request is held. Seconds. */
const MAX_WAIT_SECONDS = 60;

/** `Prefer: wait=20` (RFC 7240): a create answers when the start has ended, well or not, or when the time is up. */
@Injectable()
export class StartWait {
  constructor(
    private readonly hubs: Hubs,
    private readonly conversations: ConversationsService,
  ) {}

  /** Seconds that are asked for, at most `MAX_WAIT_SECONDS`; `null` when none are. */
  asked(prefer: string | string[] | undefined): number | null {
    const match = /(?:^|[,;]\s*)wait\s*=\s*(\d{1,6})\b/i.exec([prefer ?? []].flat().join(','));
    return match === null ? null : Math.min(Number(match[1]), MAX_WAIT_SECONDS);
  }

  /** Ends early when the caller goes. */
  async until(caller: Principal, id: string, timeoutMs: number, response: ServerResponse): Promise<void> {
    const hub = await this.hubs.acquire(caller.orgId, id);
    let stop = (): void => {};
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.conversations.get(caller, id).then(
            ({ status }) => {
              if (status !== 'starting') resolve();
            },
            () => resolve(),
          );
        };
        stop = hub.listen({
          lines: (lines) => {
            if (
              lines.some(
                ({ json }) =>
                  json.includes('"start_task"') ||
                  json.includes('"kind":"InterruptEvent"') ||
                  json.includes('"kind":"PauseEvent"'),
              )
            )
              look();
          },
        });
        timer = setTimeout(resolve, timeoutMs);
        response.once('close', resolve);
        look();
      });
    } finally {
      stop();
      clearTimeout(timer);
      this.hubs.release(hub);
    }
  }
}
