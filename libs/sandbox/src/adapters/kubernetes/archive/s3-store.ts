import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { ArchivePart } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { archiveKey, workspaceName } from './archive-key.js';
import { boundedSource, MAX_PART_BYTES } from './bounded-source.js';
import { uploadObject } from './s3-upload.js';
import { WORKSPACE_NAME, type WorkspaceStore } from './workspace-store.js';

export interface S3StoreOptions {
  readonly bucket: string;
  /** Begins every key; empty or ending with `/`. */
  readonly prefix?: string;
  /** Of AWS itself when absent. */
  readonly endpoint?: string;
  /** From the environment when absent. */
  readonly region?: string;
  /** The bucket in the path instead of the host's name: what most stores other than AWS want. */
  readonly pathStyle?: boolean;
  /** Ambient when absent: environment, the pod's identity, the node's role. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly maxBytes?: number;
}

type Library = typeof import('@aws-sdk/client-s3');

const CONNECT_TIMEOUT_MS = 5_000;
/** Longest silence of the store within one request. Milliseconds. */
const SILENCE_TIMEOUT_MS = 30_000;
/** Tries of one request, the first among them. */
const ATTEMPTS = 3;
const MARK = 'mark';

/**
 * The store in a bucket of S3, or of what speaks its language. The client library costs 35 MiB: it is loaded here, by
 * those who have a bucket.
 */
export async function openS3Store(options: S3StoreOptions): Promise<WorkspaceStore> {
  return new S3Store(await import('@aws-sdk/client-s3'), options);
}

class S3Store implements WorkspaceStore {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly prefix: string;

  constructor(
    private readonly library: Library,
    private readonly options: S3StoreOptions,
  ) {
    const { bucket, prefix = '', endpoint, region, pathStyle = false, credentials } = options;
    this.bucket = bucket;
    this.prefix = prefix;
    this.client = new library.S3Client({
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(region === undefined ? {} : { region }),
      ...(credentials === undefined ? {} : { credentials }),
      forcePathStyle: pathStyle,
      maxAttempts: ATTEMPTS,
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        requestTimeout: SILENCE_TIMEOUT_MS,
        throwOnRequestTimeout: true,
        // By the forward proxy of the process, if it has one: Node's own agents know it, others need it configured.
        httpAgent: proxyOf(http.globalAgent),
        httpsAgent: proxyOf(https.globalAgent),
      },
      // Checksums of the newer kind are refused by many stores; the archive has one of its own.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async put(workspace: string, part: ArchivePart, source: Readable, signal: AbortSignal): Promise<{ bytes: number }> {
    const bounded = boundedSource(source, this.options.maxBytes ?? MAX_PART_BYTES, signal);
    try {
      const Key = this.prefix + archiveKey(workspace, part);
      signal.throwIfAborted();
      await uploadObject(
        { library: this.library, client: this.client, address: { Bucket: this.bucket, Key }, source: bounded },
        signal,
      );
      return { bytes: bounded.bytes };
    } catch (error) {
      source.destroy();
      throw bounded.failure ?? this.storeError(error, signal);
    }
  }

  async get(workspace: string, part: ArchivePart, signal: AbortSignal): Promise<Readable | null> {
    const key = this.prefix + archiveKey(workspace, part);
    try {
      const { Body, ContentLength } = await this.client.send(
        new this.library.GetObjectCommand({ Bucket: this.bucket, Key: key }),
        { abortSignal: signal },
      );
      return Readable.from(this.whole(Body as Readable, ContentLength, signal), { objectMode: false });
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') return null;
      throw this.storeError(error, signal);
    }
  }

  async mark(workspace: string, signal: AbortSignal): Promise<void> {
    const Key = `${this.prefix}${workspaceName(workspace)}/${MARK}`;
    await this.client
      .send(new this.library.PutObjectCommand({ Bucket: this.bucket, Key, Body: '', ContentLength: 0 }), {
        abortSignal: signal,
      })
      .catch((error: unknown) => Promise.reject(this.storeError(error, signal)));
  }

  async exists(workspace: string, signal: AbortSignal): Promise<boolean> {
    for await (const _key of this.keys(workspace, signal)) return true;
    return false;
  }

  async list(signal: AbortSignal): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const page of this.pages(this.prefix, '/', signal))
      for (const { Prefix } of page.CommonPrefixes ?? []) {
        const name = Prefix?.slice(this.prefix.length, -1);
        if (name !== undefined && WORKSPACE_NAME.test(name)) names.push(name);
      }
    return names;
  }

  /** Killed in the middle it leaves a workspace that still exists, and can be deleted again. */
  async delete(workspace: string, signal: AbortSignal): Promise<void> {
    for await (const Key of this.keys(workspace, signal))
      await this.client
        .send(new this.library.DeleteObjectCommand({ Bucket: this.bucket, Key }), { abortSignal: signal })
        .catch((error: unknown) => Promise.reject(this.storeError(error, signal)));
  }

  private async *keys(workspace: string, signal: AbortSignal): AsyncGenerator<string> {
    for await (const { Contents } of this.pages(`${this.prefix}${workspaceName(workspace)}/`, undefined, signal))
      for (const { Key } of Contents ?? []) if (Key !== undefined) yield Key;
  }

  private async *pages(prefix: string, delimiter: string | undefined, signal: AbortSignal) {
    let token: string | undefined;
    do {
      const command = new this.library.ListObjectsV2Command({
        Bucket: this.bucket,
        Prefix: prefix,
        ...(delimiter === undefined ? {} : { Delimiter: delimiter }),
        ...(token === undefined ? {} : { ContinuationToken: token }),
      });
      const page = await this.client
        .send(command, { abortSignal: signal })
        .catch((error: unknown) => Promise.reject(this.storeError(error, signal)));
      yield page;
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** The body with its failures typed, and one of its own when it is shorter than it was said to be. */
  private async *whole(body: Readable, length: number | undefined, signal: AbortSignal): AsyncGenerator<Buffer> {
    const abort = (): void => void body.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    let bytes = 0;
    try {
      signal.throwIfAborted();
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        yield chunk;
      }
      if (length !== undefined && bytes !== length) throw new Error(`${bytes} of ${length} bytes`);
    } catch (error) {
      throw this.storeError(error, signal);
    } finally {
      signal.removeEventListener('abort', abort);
      body.destroy();
    }
  }

  private storeError(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof SlipwayError) return error;
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    const status = $metadata?.httpStatusCode;
    const how = status === undefined ? 'does not answer' : `answered with ${status} (${name})`;
    return new SlipwayError('sandbox.archive-unavailable', `The store of workspaces, bucket ${this.bucket}, ${how}.`, {
      internal: `the store of workspaces, bucket ${this.bucket}, ${how}: ${message}`,
      cause: error,
    });
  }
}

/** The proxy that Node was started with (NODE_USE_ENV_PROXY), as an option of another agent. */
function proxyOf(agent: http.Agent): Pick<https.AgentOptions, 'proxyEnv'> {
  // In the documentation of Node, and not in its types.
  const { proxyEnv } = (agent as unknown as { readonly options: https.AgentOptions }).options;
  return proxyEnv === undefined ? {} : { proxyEnv };
}
