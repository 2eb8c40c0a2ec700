import { Controller } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import { type RecordPageEvent, type WaitingEvents } from '@slipway/contracts/operate';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, User } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { AnalyticsService } from './analytics.service.js';

@Controller()
export class AnalyticsController {
  constructor(private readonly analytics: AnalyticsService) {}

  @Serves(operations.recordPageEvent)
  record(@User() user: SignedIn, @Body() body: RecordPageEvent): Promise<void> {
    return this.analytics.record(user, body);
  }

  @Serves(operations.listWaitingEvents)
  waiting(@Caller() caller: Principal): Promise<WaitingEvents> {
    return this.analytics.waiting(caller);
  }
}
