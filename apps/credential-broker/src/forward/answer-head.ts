import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Passed } from '../judge/judge-request.js';
import { unsupported } from '../judge/refusal.js';
import { type Header, withoutHopByHop } from '../judge/request-head.js';
import { type Found, maskText } from './masking.js';
import type { Needle } from './needles.js';

const TEXT =
  /^\s*(text\/|multipart\/|message\/|application\/([^;]*\+)?(json|xml|javascript|ecmascript|x-javascript|x-www-form-urlencoded|x-ndjson|ndjson|jsonl|yaml|x-yaml|graphql|toml|csv|sql|http))/i;
/** Not passed on: the offer of a protocol that does not come by here, and a session where none may be brought. */
const DROPPED: ReadonlySet<string> = new Set(['alt-svc']);
const SESSIONS: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2']);
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** The head of an answer, as the sandbox gets it. */
export interface AnswerHead {
  readonly status: number;
  readonly message: string;
  readonly headers: readonly Header[];
  /** Whether values are searched in the body. */
  readonly searched: boolean;
  /** What the body goes through before it is searched; `null`: nothing. */
  readonly decoder: Transform | null;
}

/** @throws SlipwayError `credential.unsupported` for a body that ought to be searched and cannot be. */
export function answerHead(
  incoming: IncomingMessage,
  judged: Passed,
  needles: readonly Needle[],
  found: Found,
): AnswerHead {
  const { statusCode: status = 502, statusMessage = '', rawHeaders, headers: read } = incoming;
  const all: Header[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2)
    all.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  const type = read['content-type'];
  const empty = judged.head.method === 'HEAD' || status === 204 || status === 304;
  const searched = !empty && needles.length > 0 && (type === undefined || TEXT.test(type));
  // Asked for in parts, a value comes in parts. A signature of AWS has no value in it.
  if (searched && status === 206 && judged.credential?.use.form !== 'aws-sigv4')
    throw unsupported('Parts of a text are not passed on from the host of a credential. Ask for all of it.');
  const encoding = (read['content-encoding'] ?? 'identity').trim().toLowerCase();
  const make = searched && encoding !== 'identity' ? DECODERS[encoding] : undefined;
  if (searched && encoding !== 'identity' && make === undefined)
    throw unsupported(`The host has encoded its answer (${encoding.slice(0, 40)}), which cannot be searched.`);
  const keepsSessions = judged.credential === null && judged.foreign === 'allow';
  const headers = withoutHopByHop(all).flatMap(([name, value]): Header[] => {
    const lower = name.toLowerCase();
    if (DROPPED.has(lower) || (SESSIONS.has(lower) && !keepsSessions) || (searched && lower === 'content-length'))
      return [];
    if (make !== undefined && lower === 'content-encoding') return [];
    return [[maskText(name, needles, found), maskText(value, needles, found)]];
  });
  return { status, message: maskText(statusMessage, needles, found), headers, searched, decoder: make?.() ?? null };
}
