import path from 'node:path';
import { Readable } from 'node:stream';
import type { AgentClient } from '@slipway/agent-client';
import type { MessageAttachment } from '@slipway/contracts/events';
import { type AttachmentRow, readAttachment, sentAttachments } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { HeldConversation } from '../conversations/held-conversation.js';

/** Beside the repository, so that no diff has them. */
const FOLDER = '.slipway/attachments';
/** Longest upload of one file into a sandbox. Milliseconds. */
const UPLOAD_TIMEOUT_MS = 60_000;
/** Refusals that come again however often the file is sent: the message goes without it, and says so. */
const FINAL: ReadonlySet<string> = new Set(['file.outside-workspace', 'request.invalid']);

/** The sandbox that files are for, and where its agent works. */
export interface FilesOf {
  readonly held: HeldConversation;
  readonly agent: AgentClient;
  readonly directory: string | null;
}

/** A file of a message. `written`: it lies in the sandbox. */
export interface AttachedFile {
  readonly attachment: MessageAttachment;
  readonly written: boolean;
}

/** Files of messages on their way into the sandbox. Each is written whole or not at all, and again with no harm. */
export class AttachedFiles {
  constructor(private readonly pool: SqlPool) {}

  /** Writes the files of one message. @throws SlipwayError as `AgentClient.upload`. */
  async ofMessage(of: FilesOf, message: string, signal: AbortSignal): Promise<AttachedFile[]> {
    return this.write(of, [message], signal);
  }

  /** Writes the files of every message again: the workspace is a new one. @throws SlipwayError as `ofMessage`. */
  async restore(of: FilesOf, signal: AbortSignal): Promise<void> {
    await this.write(of, 'all', signal);
  }

  private async write(of: FilesOf, messages: readonly string[] | 'all', signal: AbortSignal): Promise<AttachedFile[]> {
    const { orgId, id } = of.held;
    const rows = await inOrg(this.pool, orgId, (client) => sentAttachments(client, orgId, id, messages));
    const files: AttachedFile[] = [];
    for (const row of rows) {
      const attachment = attachmentOf(row, of.directory);
      const content = Readable.from(readAttachment(this.pool, orgId, row), { objectMode: false });
      const written = await of.agent
        .upload('uploadFile', { query: { path: attachment.path } }, content, { timeoutMs: UPLOAD_TIMEOUT_MS, signal })
        .then(
          () => true,
          (error: unknown) => {
            if (error instanceof SlipwayError && FINAL.has(error.code)) return false;
            throw error;
          },
        );
      files.push({ attachment, written });
    }
    return files;
  }
}

/** @throws Error without a directory: messages are handed over where there is a workspace. */
function attachmentOf({ id, name, mediaType, bytes }: AttachmentRow, directory: string | null): MessageAttachment {
  if (directory === null) throw new Error('a conversation without a workspace was given a message');
  const file = path.posix.join(path.posix.dirname(directory), FOLDER, id, name);
  return { id, name, media_type: mediaType, size_bytes: bytes, path: file };
}

/** What the model reads of the files, after the message; nothing without any. */
export function namingThem(files: readonly AttachedFile[]): Array<{ type: 'text'; text: string }> {
  if (files.length === 0) return [];
  const lines = files.map(({ attachment: { path, media_type, size_bytes }, written }) =>
    written
      ? `- ${path} (${media_type}, ${sizeOf(size_bytes)})`
      : `- ${path} (could not be written: something stands in its place)`,
  );
  return [{ type: 'text', text: `\n\nAttached files:\n${lines.join('\n')}` }];
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
