import { Module } from '@nestjs/common';
import { MeModule } from '../identity/me/me.module.js';
import { AttachmentsController } from './attachments/attachments.controller.js';
import { AttachmentsService } from './attachments/attachments.service.js';
import { ChangesController } from './changes/changes.controller.js';
import { TurnHunkService } from './changes/turn-hunk.service.js';
import { ConversationModelService } from './conversation-model.service.js';
import { ConversationsController } from './conversations.controller.js';
import { ConversationsService } from './conversations.service.js';
import { DraftsController } from './drafts/drafts.controller.js';
import { BulkEdits } from './edits/bulk-edits.service.js';
import { ConversationEdits } from './edits/conversation-edits.service.js';
import { ConversationTrash } from './edits/conversation-trash.service.js';
import { EditsController } from './edits/edits.controller.js';
import { MessageQueueController } from './message-queue.controller.js';
import { MessageQueueService } from './message-queue.service.js';
import { RunControlService } from './run-control.service.js';
import { SandboxReads } from './sandbox-reads.js';
import { SimpleApiController } from './simple-api.controller.js';
import { StartWait } from './start-wait.js';
import { WorkspaceService } from './workspace.service.js';

@Module({
  imports: [MeModule],
  controllers: [
    EditsController,
    ConversationsController,
    ChangesController,
    MessageQueueController,
    DraftsController,
    AttachmentsController,
    SimpleApiController,
  ],
  providers: [
    ConversationsService,
    MessageQueueService,
    RunControlService,
    ConversationModelService,
    WorkspaceService,
    TurnHunkService,
    SandboxReads,
    StartWait,
    ConversationEdits,
    ConversationTrash,
    BulkEdits,
    AttachmentsService,
  ],
  exports: [RunControlService, ConversationsService],
})
export class ConversationsModule {}
