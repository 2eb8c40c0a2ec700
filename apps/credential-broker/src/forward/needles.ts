import type { HeldCredential } from '../judge/credential.js';

/** Shorter values are found everywhere, and are not searched. Bytes. */
export const MIN_BYTES = 8;

/** A form in which a host may send a value back. */
export interface Needle {
  /** Zeroed when the credential is forgotten. */
  readonly bytes: Buffer;
  readonly mask: Buffer;
  readonly credential: HeldCredential;
}

/**
 * Values and tokens as they are, in base64 at each of its three positions (so within Basic too), in a URL, in JSON and
 * in HTML. The longest first.
 */
export function needlesOf(credentials: readonly HeldCredential[]): Needle[] {
  return credentials
    .flatMap((credential) =>
      [credential.value, credential.identity].flatMap((value) =>
        value === null || value.length < MIN_BYTES
          ? []
          : formsOf(value).map((bytes) => ({ bytes, mask: Buffer.from(`<secret:${credential.name}>`), credential })),
      ),
    )
    .sort((one, other) => other.bytes.length - one.bytes.length);
}

function formsOf(value: Buffer): Buffer[] {
  const text = value.toString();
  const forms = new Set([
    text,
    ...[0, 1, 2].flatMap((position) => base64At(value, position)),
    encodeURIComponent(text),
    encodeURIComponent(text).replaceAll('%20', '+'),
    JSON.stringify(text).slice(1, -1),
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  ]);
  return Array.from(forms, (form) => Buffer.from(form)).filter((form) => form.length >= MIN_BYTES);
}

/** The characters that depend on nothing but the value, with so many bytes before it. */
function base64At(value: Buffer, position: number): string[] {
  const bits = (position + value.length) * 8;
  const padded = Buffer.concat([Buffer.alloc(position), value]);
  const text = padded.toString('base64').slice(Math.ceil((position * 8) / 6), Math.floor(bits / 6));
  padded.fill(0);
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}
