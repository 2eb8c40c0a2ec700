import type { CompletedPart, S3Client } from '@aws-sdk/client-s3';

/** Memory of one upload is a little more than this × (`AT_ONCE` + 1); the largest object is 10,000 × this. Bytes. */
const PART_BYTES = 8 * 2 ** 20;
/** Parts that are on their way at the same time. */
const AT_ONCE = 2;
/**
 * Longest that the beginning of an upload, or the clearing away of a failed one, may take. Milliseconds; its caller may
 * have gone.
 */
const SHORT_TIMEOUT_MS = 15_000;

export interface ObjectAddress {
  readonly Bucket: string;
  readonly Key: string;
}

export interface S3Upload {
  readonly library: typeof import('@aws-sdk/client-s3');
  readonly client: S3Client;
  readonly address: ObjectAddress;
  readonly source: AsyncIterable<Buffer>;
  /** Fails with PreconditionFailed, at the latest at its end, when there is such an object. */
  readonly onlyIfAbsent?: boolean;
}

/**
 * Uploads a stream of unknown length as an object. It appears when the last byte is there; a failure of either side, or
 * `signal`, leaves no object and no part of one: parts that stay are paid for, and no list shows them. Only a process
 * that is killed, or a store that goes away in the middle, leaves some: give the bucket a rule that ends incomplete
 * uploads.
 */
export async function uploadObject(
  { library, client, address, source, onlyIfAbsent = false }: S3Upload,
  signal: AbortSignal,
): Promise<void> {
  const condition = onlyIfAbsent ? { IfNoneMatch: '*' } : {};
  const parts = partsOf(source);
  const first = await parts.next();
  const content = first.done === true ? Buffer.alloc(0) : first.value;
  const options = { abortSignal: signal };
  if (content.length < PART_BYTES) {
    await client.send(
      new library.PutObjectCommand({ ...address, ...condition, Body: content, ContentLength: content.length }),
      options,
    );
    return;
  }
  // Not ended by `signal`: an upload that was begun and without a known id could not be cleaned up.
  const { UploadId } = await client.send(new library.CreateMultipartUploadCommand(address), {
    abortSignal: AbortSignal.timeout(SHORT_TIMEOUT_MS),
  });
  const sent: Array<Promise<CompletedPart>> = [];
  const send = async (Body: Buffer, PartNumber: number): Promise<CompletedPart> => {
    const { ETag } = await client.send(
      new library.UploadPartCommand({ ...address, UploadId, PartNumber, Body, ContentLength: Body.length }),
      options,
    );
    return { PartNumber, ETag };
  };
  const begin = (part: Buffer): void => {
    const sending = send(part, sent.length + 1);
    // Waited for below; until then its rejection must not count as unhandled.
    sending.catch(() => {});
    sent.push(sending);
  };
  try {
    signal.throwIfAborted();
    begin(content);
    for await (const part of parts) {
      if (sent.length >= AT_ONCE) await sent[sent.length - AT_ONCE];
      begin(part);
    }
    const Parts = await Promise.all(sent);
    await client.send(
      new library.CompleteMultipartUploadCommand({ ...address, ...condition, UploadId, MultipartUpload: { Parts } }),
      options,
    );
  } catch (error) {
    // A part that arrives after the end of its upload would stay.
    await Promise.allSettled(sent);
    const clearing = { abortSignal: AbortSignal.timeout(SHORT_TIMEOUT_MS) };
    await client.send(new library.AbortMultipartUploadCommand({ ...address, UploadId }), clearing).catch(() => {});
    throw error;
  }
}

/** The stream in pieces of `PART_BYTES`, the last one shorter. */
async function* partsOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let [chunks, bytes]: [Buffer[], number] = [[], 0];
  for await (const chunk of source) {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes >= PART_BYTES) {
      const whole = Buffer.concat(chunks, bytes);
      yield whole.subarray(0, PART_BYTES);
      [chunks, bytes] = [[whole.subarray(PART_BYTES)], bytes - PART_BYTES];
    }
  }
  if (bytes > 0) yield Buffer.concat(chunks, bytes);
}
