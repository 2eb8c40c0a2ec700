import type { Readable } from 'node:stream';
import type { ArchivePart } from '@slipway/contracts/agent';
import { boundedSource, MAX_PART_BYTES } from '../../../store/bounded-source.js';
import { openBucket, type S3Bucket, type S3BucketOptions } from '../../../store/s3-bucket.js';
import { uploadObject } from '../../../store/s3-upload.js';
import { archiveKey, workspaceName } from './archive-key.js';
import { WORKSPACE_NAME, type WorkspaceStore } from './workspace-store.js';

export interface S3StoreOptions extends S3BucketOptions {
  readonly maxBytes?: number;
}

const MARK = 'mark';

/** The store in a bucket of S3, or of what speaks its language. */
export async function openS3Store(options: S3StoreOptions): Promise<WorkspaceStore> {
  return new S3Store(await openBucket(options, 'workspaces'), options.maxBytes ?? MAX_PART_BYTES);
}

class S3Store implements WorkspaceStore {
  constructor(
    private readonly bucket: S3Bucket,
    private readonly maxBytes: number,
  ) {}

  async put(workspace: string, part: ArchivePart, source: Readable, signal: AbortSignal): Promise<{ bytes: number }> {
    const bounded = boundedSource(source, this.maxBytes, signal);
    try {
      const address = this.bucket.address(archiveKey(workspace, part));
      signal.throwIfAborted();
      await uploadObject(
        { library: this.bucket.library, client: this.bucket.client, address, source: bounded },
        signal,
      );
      return { bytes: bounded.bytes };
    } catch (error) {
      source.destroy();
      throw bounded.failure ?? this.bucket.storeError(error, signal);
    }
  }

  async get(workspace: string, part: ArchivePart, signal: AbortSignal): Promise<Readable | null> {
    return this.bucket.get(archiveKey(workspace, part), null, signal);
  }

  async mark(workspace: string, signal: AbortSignal): Promise<void> {
    const address = this.bucket.address(`${workspaceName(workspace)}/${MARK}`);
    await this.bucket.client
      .send(new this.bucket.library.PutObjectCommand({ ...address, Body: '', ContentLength: 0 }), {
        abortSignal: signal,
      })
      .catch((error: unknown) => Promise.reject(this.bucket.storeError(error, signal)));
  }

  async exists(workspace: string, signal: AbortSignal): Promise<boolean> {
    for await (const _key of this.keys(workspace, signal)) return true;
    return false;
  }

  async list(signal: AbortSignal): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const page of this.bucket.pages({ prefix: '', delimiter: '/' }, signal))
      for (const { Prefix } of page.CommonPrefixes ?? []) {
        const name = Prefix?.slice(this.bucket.prefix.length, -1);
        if (name !== undefined && WORKSPACE_NAME.test(name)) names.push(name);
      }
    return names;
  }

  /** Killed in the middle it leaves a workspace that still exists, and can be deleted again. */
  async delete(workspace: string, signal: AbortSignal): Promise<void> {
    for await (const key of this.keys(workspace, signal)) await this.bucket.delete(key, signal);
  }

  private async *keys(workspace: string, signal: AbortSignal): AsyncGenerator<string> {
    for await (const { Contents } of this.bucket.pages({ prefix: `${workspaceName(workspace)}/` }, signal))
      for (const { Key } of Contents ?? []) if (Key !== undefined) yield Key.slice(this.bucket.prefix.length);
  }
}
