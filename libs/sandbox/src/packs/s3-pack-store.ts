import type { Readable } from 'node:stream';
import { boundedSource } from '../store/bounded-source.js';
import { openBucket, type S3Bucket, type S3BucketOptions } from '../store/s3-bucket.js';
import { uploadObject } from '../store/s3-upload.js';
import {
  checkRange,
  MAX_PACK_BYTES,
  type PackAddress,
  type PackEntry,
  type PackRange,
  type PackStore,
  packKey,
  packOfKey,
  type StoredPack,
} from './pack-store.js';

export interface S3PackStoreOptions extends S3BucketOptions {
  readonly maxBytes?: number;
}

/** Packs as objects of a bucket. */
export async function openS3PackStore(options: S3PackStoreOptions): Promise<PackStore> {
  return new S3PackStore(await openBucket(options, 'packs'), options.maxBytes ?? MAX_PACK_BYTES);
}

class S3PackStore implements PackStore {
  constructor(
    private readonly bucket: S3Bucket,
    private readonly maxBytes: number,
  ) {}

  async put(pack: PackAddress, source: Readable, signal: AbortSignal): Promise<StoredPack> {
    const bounded = boundedSource(source, this.maxBytes, signal);
    const { library, client } = this.bucket;
    try {
      const address = this.bucket.address(packKey(pack));
      signal.throwIfAborted();
      // A store that knows no conditions would overwrite: who comes second sees the first one here.
      if (await this.exists(address, signal)) {
        source.destroy();
        return { outcome: 'there' };
      }
      await uploadObject({ library, client, address, source: bounded, onlyIfAbsent: true }, signal);
      return { outcome: 'stored', bytes: bounded.bytes };
    } catch (error) {
      source.destroy();
      if (!signal.aborted && isTaken(error)) return { outcome: 'there' };
      throw bounded.failure ?? this.bucket.storeError(error, signal);
    }
  }

  async get(pack: PackAddress, range: PackRange | null, signal: AbortSignal): Promise<Readable | null> {
    checkRange(range);
    return this.bucket.get(packKey(pack), range, signal);
  }

  async *list(after: PackAddress | null, signal: AbortSignal): AsyncGenerator<PackEntry> {
    const behind = after === null ? {} : { after: packKey(after) };
    for await (const { Contents } of this.bucket.pages({ prefix: '', ...behind }, signal))
      for (const { Key = '', Size = 0, LastModified } of Contents ?? []) {
        const found = packOfKey(Key.slice(this.bucket.prefix.length));
        // One without a time is as young as can be: nothing deletes it for its age.
        if (found !== null) yield { ...found, bytes: Size, storedAt: LastModified ?? new Date() };
      }
  }

  async delete(pack: PackAddress, signal: AbortSignal): Promise<void> {
    return this.bucket.delete(packKey(pack), signal);
  }

  private async exists(
    address: { readonly Bucket: string; readonly Key: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      await this.bucket.client.send(new this.bucket.library.HeadObjectCommand(address), { abortSignal: signal });
      return true;
    } catch (error) {
      if (['NotFound', 'NoSuchKey'].includes((error as Error).name)) return false;
      throw error;
    }
  }
}

/** Another put was first, or two were at it at once. */
function isTaken(error: unknown): boolean {
  const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  return name === 'PreconditionFailed' || name === 'ConditionalRequestConflict' || $metadata?.httpStatusCode === 412;
}
