import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Delivery, ReadDelivery } from '../delivery.js';
import { headerOf } from '../delivery.js';
import type { SignatureScheme } from '../signatures/scheme.js';

/** Larger than what any provider may send, with its headers. Bytes; what unpacks to more is none of ours. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
const pack = promisify<Buffer, Buffer>(deflateRaw);
const unpack = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);
const LINE_END = 0x0a;

/** Of headers that may carry a credential or who stands between, whatever the provider. */
const CREDENTIAL =
  /^(?:cookie|forwarded|via|x-real-ip)$|authorization|token|secret|signature|password|credential|api-?key|x-forwarded/;

/** The headers that are kept: all but authenticating ones. @param scheme whose own header is dropped, too. */
export function withoutSecrets(headers: Delivery['headers'], scheme: SignatureScheme): Delivery['headers'] {
  const own = 'header' in scheme ? scheme.header : null;
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => value !== undefined && name !== own && !CREDENTIAL.test(name)),
  );
}

/**
 * One text to be sealed: headers and the exact bytes, deflated. In the thread pool: a large body does not hold up
 * others.
 */
export async function packDelivery({ headers, raw }: Delivery): Promise<string> {
  const whole = Buffer.concat([Buffer.from(`${JSON.stringify(headers)}\n`), raw]);
  return (await pack(whole)).toString('base64');
}

/** @throws Error when it is no such text, or unpacks to more than any delivery has. */
export async function unpackDelivery(text: string): Promise<Delivery> {
  const whole = await unpack(Buffer.from(text, 'base64'), { maxOutputLength: MAX_UNPACKED_BYTES });
  const end = whole.indexOf(LINE_END);
  return { headers: JSON.parse(whole.toString('utf8', 0, end)) as Delivery['headers'], raw: whole.subarray(end + 1) };
}

/** Of the content type of a delivery, without its parameters; `null` where there is none, or more than one. */
export function mediaTypeOf(headers: Delivery['headers']): string | null {
  return headerOf({ headers }, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? null;
}

/**
 * What a body that holds says, from JSON or from a form's one field `payload`. `body: undefined`: it cannot be read; it
 * is kept and listed nevertheless.
 */
export function readBody(delivery: Delivery, form: boolean): ReadDelivery {
  const text = delivery.raw.toString('utf8');
  const json =
    form && mediaTypeOf(delivery.headers) === 'application/x-www-form-urlencoded'
      ? new URLSearchParams(text).get('payload')
      : text;
  try {
    return { headers: delivery.headers, body: JSON.parse((json ?? '').replace(/^\ufeff/, '')) as unknown };
  } catch {
    return { headers: delivery.headers, body: undefined };
  }
}
