import { Controller, Param } from '@nestjs/common';
import {
  type Desk,
  type DeskMark,
  type DeskQuery,
  type PutReadMark,
  type ReadMark,
  type SetDeskMark,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { DeskService } from './desk.service.js';

@Controller()
export class DeskController {
  constructor(private readonly desk: DeskService) {}

  @Serves(operations.getDesk)
  get(@Caller() caller: Principal, @Query() query: DeskQuery): Promise<Desk> {
    return this.desk.desk(caller, query);
  }

  @Serves(operations.putReadMark)
  read(@Caller() caller: Principal, @Param('conversation') id: string, @Body() body: PutReadMark): Promise<ReadMark> {
    return this.desk.read(caller, conversationId(id), body);
  }

  @Serves(operations.setDeskMark)
  mark(@Caller() caller: Principal, @Param('conversation') id: string, @Body() body: SetDeskMark): Promise<DeskMark> {
    return this.desk.mark(caller, conversationId(id), body);
  }
}
