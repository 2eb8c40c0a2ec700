import { Inject, Module, type OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from '@slipway/queue';
import { ConfirmationModule } from '../../conversations/confirmation/confirmation.module.js';
import { ConversationsModule } from '../../conversations/conversations.module.js';
import { QUEUE } from '../../platform/jobs.module.js';
import { PressActs } from './press-acts.js';
import { PressesService } from './presses.service.js';

/** Presses at a time in one process. They wait for sandboxes nearly all the time. */
const CONCURRENCY = 4;

/** The one kind of job that app-server takes: it alone answers agents. */
@Module({
  imports: [ConversationsModule, ConfirmationModule],
  providers: [PressActs, PressesService],
  exports: [PressesService],
})
export class PressesModule implements OnApplicationBootstrap {
  constructor(
    @Inject(QUEUE) private readonly queue: Queue,
    private readonly presses: PressesService,
  ) {}

  onApplicationBootstrap(): void {
    this.queue.handle('integration-press', (payload) => this.presses.run(payload), { concurrency: CONCURRENCY });
  }
}
