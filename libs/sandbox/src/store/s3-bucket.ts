import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import type { ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3';
import { SlipwayError } from '@slipway/errors';

export interface S3BucketOptions {
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
}

export type S3Library = typeof import('@aws-sdk/client-s3');

const CONNECT_TIMEOUT_MS = 5_000;
/** Longest silence of the store within one request. Milliseconds. */
const SILENCE_TIMEOUT_MS = 30_000;
/** Tries of one request, the first among them. */
const ATTEMPTS = 3;

/** The client library costs 35 MiB: it is loaded here, by those who have a bucket. @param of as errors name it. */
export async function openBucket(options: S3BucketOptions, of: string): Promise<S3Bucket> {
  return new S3Bucket(await import('@aws-sdk/client-s3'), options, of);
}

/** A bucket of S3, or of what speaks its language: client, keys below a prefix, and failures in our words. */
export class S3Bucket {
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix: string;

  constructor(
    readonly library: S3Library,
    { bucket, prefix = '', endpoint, region, pathStyle = false, credentials }: S3BucketOptions,
    private readonly of: string,
  ) {
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
      // Checksums of the newer kind are refused by many stores; what is stored has one of its own.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  address(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.bucket, Key: this.prefix + key };
  }

  /**
   * An object, or `length` bytes of it from `start`. The stream ends with an error when it is shorter than the answer
   * said. `null`: there is none.
   */
  async get(
    key: string,
    range: { readonly start: number; readonly length: number } | null,
    signal: AbortSignal,
  ): Promise<Readable | null> {
    try {
      const { Body, ContentLength } = await this.client.send(
        new this.library.GetObjectCommand({
          ...this.address(key),
          ...(range === null ? {} : { Range: `bytes=${range.start}-${range.start + range.length - 1}` }),
        }),
        { abortSignal: signal },
      );
      const length = range === null ? ContentLength : range.length;
      return Readable.from(this.whole(Body as Readable, length, signal), { objectMode: false });
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') return null;
      throw this.storeError(error, signal);
    }
  }

  /** Idempotent. */
  async delete(key: string, signal: AbortSignal): Promise<void> {
    await this.client
      .send(new this.library.DeleteObjectCommand(this.address(key)), { abortSignal: signal })
      .catch((error: unknown) => Promise.reject(this.storeError(error, signal)));
  }

  /** Listings of the keys below a prefix, in order, from behind `after`; both without the bucket's own prefix. */
  async *pages(
    { prefix, delimiter, after }: { readonly prefix: string; readonly delimiter?: string; readonly after?: string },
    signal: AbortSignal,
  ): AsyncGenerator<ListObjectsV2CommandOutput> {
    let token: string | undefined;
    do {
      const command = new this.library.ListObjectsV2Command({
        Bucket: this.bucket,
        Prefix: this.prefix + prefix,
        ...(delimiter === undefined ? {} : { Delimiter: delimiter }),
        ...(token !== undefined
          ? { ContinuationToken: token }
          : after === undefined
            ? {}
            : { StartAfter: this.prefix + after }),
      });
      const page = await this.client
        .send(command, { abortSignal: signal })
        .catch((error: unknown) => Promise.reject(this.storeError(error, signal)));
      yield page;
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** As `sandbox.archive-unavailable` with what the store answered; the signal's reason when that ended it. */
  storeError(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof SlipwayError) return error;
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    const status = $metadata?.httpStatusCode;
    const how = status === undefined ? 'does not answer' : `answered with ${status} (${name})`;
    return new SlipwayError('sandbox.archive-unavailable', `The store of ${this.of}, bucket ${this.bucket}, ${how}.`, {
      internal: `the store of ${this.of}, bucket ${this.bucket}, ${how}: ${message}`,
      cause: error,
    });
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
}

/** The proxy that Node was started with (NODE_USE_ENV_PROXY), as an option of another agent. */
function proxyOf(agent: http.Agent): Pick<https.AgentOptions, 'proxyEnv'> {
  // In the documentation of Node, and not in its types.
  const { proxyEnv } = (agent as unknown as { readonly options: https.AgentOptions }).options;
  return proxyEnv === undefined ? {} : { proxyEnv };
}
