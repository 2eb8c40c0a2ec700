import { Controller, Param } from '@nestjs/common';
import { type ThreadAnswerList } from '@slipway/contracts/integrations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { ThreadAnswersService } from './thread-answers.service.js';

@Controller()
export class CallbacksController {
  constructor(private readonly answers: ThreadAnswersService) {}

  @Serves(operations.listThreadAnswers)
  listAnswers(@Caller() caller: Principal, @Param('conversation') conversation: string): Promise<ThreadAnswerList> {
    return this.answers.list(caller, conversation);
  }
}
