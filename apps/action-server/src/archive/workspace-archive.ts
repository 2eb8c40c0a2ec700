import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { archiveDirectories, type Directories, restoreDirectories, volumeBytes } from '@slipway/archive';
import { ARCHIVE_CONTENT_TYPE, ARCHIVE_SKIPPED_HEADER } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';

export interface WorkspaceArchiveOptions {
  readonly workspace: string;
  /** The agent's home, when it has one of its own: it is emptied by a restore. */
  readonly home: string | undefined;
  /** Bytes; the size of the workspace's volume when absent. */
  readonly maxBytes: number | undefined;
  /** Removes what is kept with these files and may be missing: for when there are too many. */
  readonly makeRoom: () => Promise<void>;
}

/**
 * The agent's files as one stream. They are this process' own: agent-server, another user, only hands the stream on.
 */
export class WorkspaceArchive {
  private readonly directories: Directories;

  constructor(private readonly options: WorkspaceArchiveOptions) {
    this.directories = { workspace: options.workspace, ...(options.home === undefined ? {} : { home: options.home }) };
  }

  /**
   * @throws SlipwayError `sandbox.archive-too-large`, `sandbox.archive-broken`; once it has begun, a failure breaks the
   * answer off.
   */
  async send(response: ServerResponse, signal: AbortSignal): Promise<void> {
    const bounds = { maxBytes: await this.maxBytes(), signal };
    const { stream, skipped } = await archiveDirectories(this.directories, bounds).catch(async (error: unknown) => {
      if (!(error instanceof SlipwayError) || error.code !== 'sandbox.archive-too-large') throw error;
      await this.options.makeRoom();
      return archiveDirectories(this.directories, bounds);
    });
    response.writeHead(200, { 'content-type': ARCHIVE_CONTENT_TYPE, [ARCHIVE_SKIPPED_HEADER]: skipped });
    await pipeline(stream, response);
  }

  /** In place of what is there. @throws SlipwayError as `restoreDirectories`: what is there then is a part. */
  async take(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    // Destroying the request would take the answer's connection with it.
    const source = Readable.from(request.iterator({ destroyOnReturn: false }), { objectMode: false });
    await restoreDirectories(this.directories, source, { maxBytes: await this.maxBytes(), signal });
    response.writeHead(204).end();
  }

  private async maxBytes(): Promise<number> {
    return this.options.maxBytes ?? volumeBytes(this.options.workspace);
  }
}
