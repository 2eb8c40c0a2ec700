import { Controller, Param, Req, Res, StreamableFile } from '@nestjs/common';
import {
  type Attachment,
  type AttachmentList,
  PICTURE_TYPES,
  type UploadAttachmentQuery,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller, Query, ReservedId } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { AttachmentsService } from './attachments.service.js';

@Controller()
export class AttachmentsController {
  constructor(private readonly attachments: AttachmentsService) {}

  @Serves(operations.uploadAttachment)
  upload(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Query() { name }: UploadAttachmentQuery,
    @ReservedId() reservedId: string | undefined,
    @Req() { body, headers }: FastifyRequest,
  ): Promise<Attachment> {
    const upload = { name, body, length: headers['content-length'], reservedId };
    return this.attachments.upload(caller, conversationId(id), upload);
  }

  @Serves(operations.uploadTaskAttachment)
  uploadPending(
    @Caller() caller: Principal,
    @Query() { name }: UploadAttachmentQuery,
    @ReservedId() reservedId: string | undefined,
    @Req() { body, headers }: FastifyRequest,
  ): Promise<Attachment> {
    return this.attachments.upload(caller, null, { name, body, length: headers['content-length'], reservedId });
  }

  @Serves(operations.deleteTaskAttachment)
  removePending(@Caller() caller: Principal, @Param('attachment') attachment: string): Promise<void> {
    return this.attachments.removePending(caller, conversationId(attachment));
  }

  @Serves(operations.listAttachments)
  list(@Caller() caller: Principal, @Param('conversation') id: string): Promise<AttachmentList> {
    return this.attachments.list(caller, conversationId(id));
  }

  @Serves(operations.downloadAttachment)
  async download(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('attachment') attachment: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const { file, content } = await this.attachments.download(caller, conversationId(id), conversationId(attachment));
    // Who has gone already takes nothing.
    if (reply.raw.destroyed) content.destroy();
    reply.raw.once('close', () => content.destroy());
    void reply
      .type(servedType(file.mediaType))
      // Nothing in it runs, whatever a browser takes it for.
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('cross-origin-resource-policy', 'same-origin')
      .header('cache-control', 'private, max-age=86400, immutable');
    return new StreamableFile(content, {
      disposition: dispositionOf(file.name),
      length: file.sizeBytes,
    });
  }

  @Serves(operations.deleteAttachment)
  remove(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('attachment') attachment: string,
  ): Promise<void> {
    return this.attachments.remove(caller, conversationId(id), conversationId(attachment));
  }
}

function servedType(mediaType: string): string {
  if (PICTURE_TYPES.has(mediaType)) return mediaType;
  return mediaType === 'text/plain' ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

/** To be saved and never opened, under a name that is ASCII for old browsers (RFC 6266). */
function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const whole = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}
