import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { HeldCredential } from '../judge/credential.js';
import { parametersOf } from '../judge/foreign.js';
import { unsupported } from '../judge/refusal.js';
import { type Header, type RequestHead, valuesOf } from '../judge/request-head.js';

const SCOPE = /^AWS4-HMAC-SHA256 +Credential=[^/,\s]+\/\d{8}\/([a-z0-9-]{1,40})\/([a-z0-9-]{1,40})\/aws4_request[,\s]/;
const HOST = /^(?:.+\.)?([a-z0-9-]+?)(?:[.-]([a-z]{2}(?:-[a-z]+)+-\d))?\.amazonaws\.com(?:\.cn)?$/;
const HASH = /^[0-9a-f]{64}$/;
/** Headers that a signature covers beside `X-Amz-*`. */
const SIGNED: ReadonlySet<string> = new Set(['host', 'content-type', 'content-md5']);

export interface AwsRequest {
  readonly region: string;
  readonly service: string;
  /** SHA-256 of the body, or `UNSIGNED-PAYLOAD`; `null`: the body has to be read. */
  readonly payload: string | null;
}

/**
 * What a request is signed for: by the scope that the client wrote, else by the host.
 * @throws SlipwayError `credential.unsupported` for presigned queries, chunks that are signed one by one, and hosts
 * that say nothing of their region.
 */
export function readAwsRequest({ headers, target }: RequestHead, host: string): AwsRequest {
  if (parametersOf(target.query).some(([name]) => /^x-amz-(signature|algorithm|credential)$/i.test(name)))
    throw unsupported('Presigned requests of AWS are not passed on. Send the request with a signature in its headers.');
  const [payload] = valuesOf(headers, 'x-amz-content-sha256');
  if (payload?.startsWith('STREAMING-'))
    throw unsupported(
      'Bodies that are signed in chunks are not passed on. Set request_checksum_calculation to when_required.',
    );
  const [authorization = ''] = valuesOf(headers, 'authorization');
  if (authorization.startsWith('AWS4-ECDSA')) throw unsupported('Signatures for more than one region are not made.');
  const [, region, service] = SCOPE.exec(authorization) ?? scopeOf(host);
  if (region === undefined || service === undefined)
    throw unsupported(`For which service and region ${host} is cannot be said. Sign the request with any keys.`);
  const known = payload !== undefined && (HASH.test(payload) || payload === 'UNSIGNED-PAYLOAD');
  return { region, service, payload: known ? payload : null };
}

function scopeOf(host: string): readonly (string | undefined)[] {
  const [, service, region = 'us-east-1'] = HOST.exec(host) ?? [];
  return service === undefined ? [] : ['', region, service];
}

/** The request with a signature of the credential, and with nothing that was signed before. */
export async function signAws(
  head: RequestHead,
  { value, accessKeyId }: Pick<HeldCredential, 'value'> & { readonly accessKeyId: string },
  { region, service, payload, host, now }: AwsRequest & { readonly host: string; readonly now: Date },
): Promise<RequestHead> {
  const dropped = new Set(['authorization', 'x-amz-security-token', 'x-amz-date', 'x-amz-content-sha256', 'date']);
  const kept = head.headers.filter(([name]) => !dropped.has(name.toLowerCase()));
  const headers: Record<string, string> = { host, 'x-amz-content-sha256': payload ?? '' };
  for (const [name, text] of kept) {
    const lower = name.toLowerCase();
    if (lower.startsWith('x-amz-') || (SIGNED.has(lower) && lower !== 'host'))
      headers[lower] = headers[lower] === undefined ? text : `${headers[lower]},${text}`;
  }
  const query: Record<string, string[]> = {};
  for (const [name, text] of parametersOf(head.target.query)) {
    query[name] ??= [];
    query[name].push(text);
  }
  const signer = new SignatureV4({
    service,
    region,
    credentials: { accessKeyId, secretAccessKey: value.toString() },
    sha256: NodeSha256,
    applyChecksum: false,
    uriEscapePath: service !== 's3',
  });
  const signed = await signer.sign(
    { method: head.method, protocol: 'https:', hostname: host, path: head.target.rawPath, query, headers },
    { signingDate: now },
  );
  const made = ['authorization', 'x-amz-date', 'x-amz-content-sha256'].flatMap((name): Header[] => {
    const text = signed.headers[name];
    return text === undefined ? [] : [[name, text]];
  });
  return { ...head, headers: [...kept, ...made] };
}

/** As the signer wants it. */
class NodeSha256 {
  private hash: Hash | Hmac;

  constructor(private readonly secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = this.fresh();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }

  reset(): void {
    this.hash = this.fresh();
  }

  private fresh(): Hash | Hmac {
    return this.secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(this.secret));
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
}
