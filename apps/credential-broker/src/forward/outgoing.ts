import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { readAwsRequest, signAws } from '../forms/aws-sigv4.js';
import { judgePush, type Push, readPush } from '../git/push.js';
import type { Judged, Passed } from '../judge/judge-request.js';
import { refused, unsupported } from '../judge/refusal.js';
import { type RequestHead, valuesOf } from '../judge/request-head.js';

/** Most of a body that is read before its request can be signed. Bytes. */
const MAX_SIGNED_BYTES = 8 * 1024 * 1024;

/** What is sent to a host. */
export interface Outgoing {
  readonly head: RequestHead;
  /** Of the body, what was read already. */
  readonly held: Buffer | null;
  /** The rest of it; `null`: there is none. */
  readonly body: Readable | null;
  /** What a push asks for; absent for any other request. */
  readonly push?: Push;
}

/** A push that is not passed on, with the reason for each reference. */
export interface RefusedPush {
  readonly push: Push;
  readonly refused: ReadonlyMap<string, string>;
  /** What is left of it. */
  readonly body: Readable;
}

/**
 * Reads of a body what has to be known before the request is sent: the commands of a push, all of it for a signature of
 * AWS.
 * @throws SlipwayError `credential.unsupported`, `credential.too-large`.
 */
export async function prepare(
  judged: Passed,
  request: IncomingMessage,
  host: string,
  now: Date,
): Promise<Outgoing | RefusedPush> {
  const body = hasBody(request) ? request : null;
  if (judged.credential === null) return { head: judged.head, held: null, body };
  const { head, credential, git, used } = judged;
  if (git?.service === 'git-receive-pack' && git.step === 'call') return preparePush(judged, request);
  if (credential.use.form !== 'aws-sigv4' || !used.includes(credential)) return { head, held: null, body };
  const asked = readAwsRequest(head, host);
  const signing = { ...asked, host, now };
  const { accessKeyId } = credential.use;
  if (asked.payload !== null)
    return { head: await signAws(head, { value: credential.value, accessKeyId }, signing), held: null, body };
  const held = body === null ? Buffer.alloc(0) : await readAll(body);
  const payload = createHash('sha256').update(held).digest('hex');
  const signed = await signAws(head, { value: credential.value, accessKeyId }, { ...signing, payload });
  return { head: signed, held: body === null ? null : held, body: null };
}

async function preparePush({ head, place }: Judged, request: IncomingMessage): Promise<Outgoing | RefusedPush> {
  const encodings = valuesOf(head.headers, 'content-encoding');
  const zipped = encodings.length === 1 && /^(x-)?gzip$/i.test(encodings[0] ?? '');
  if (encodings.length > 0 && !zipped) throw unsupported('A push is sent plainly or with gzip.');
  const body = zipped ? pipeline(request, createGunzip(), () => {}) : request;
  const push = await readPush(body).catch((error: Error) => {
    throw unsupported(`The push cannot be read: ${error.message}.`);
  });
  if (push.commands.length === 0 && push.problem !== null)
    throw unsupported(`The push cannot be judged: ${push.problem}.`);
  const refused = judgePush(push, place.git?.push ?? []);
  if (refused.size > 0) return { push, refused, body };
  const sent = zipped
    ? { ...head, headers: head.headers.filter(([name]) => !/^content-(encoding|length)$/i.test(name)) }
    : head;
  return { head: sent, held: push.held, body, push };
}

async function readAll(body: Readable): Promise<Buffer> {
  let length = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_SIGNED_BYTES)
        throw refused(
          'credential.too-large',
          'too-large',
          'A body over 8 MiB can be signed for AWS only when the client says its SHA-256 or sends it unsigned.',
        );
      yield chunk;
    }
  };
  return buffer(Readable.from(counted()));
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
