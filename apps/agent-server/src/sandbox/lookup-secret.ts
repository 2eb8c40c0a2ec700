import { SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { callOut } from '../http/outgoing.js';

/** Longest wait for a value, and the longest value. Milliseconds; bytes, as for a secret that is handed over. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** OpenHands' `LookupSecret`: the value is what an address answers with. */
export const LookupSecret = z.looseObject({
  kind: z.literal('LookupSecret'),
  url: z.url({ protocol: /^https?$/ }).max(2_048),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'is not the name of a header'),
      z.string().max(8_192),
    )
    .nullish(),
});
export type LookupSecret = z.infer<typeof LookupSecret>;

const NAME = '([A-Za-z_][A-Za-z0-9_]*)';
const HERE = new RegExp(`/api/settings/secrets/${NAME}$`);
const AT_THE_APP = new RegExp(`/api/v1/sandboxes/([0-9a-f-]{36})/settings/secrets/${NAME}$`, 'i');

/**
 * The secret of this sandbox that an address names, as `get_secrets` of OpenHands' workspaces writes it: this server's
 * own (`hosts`: what the client calls it), or the app's of a conversation that is here (`isHere`). The value is already
 * here: no request is made, and no address has to serve it. `null` for any other.
 */
export function heldSecretAt(
  url: string,
  hosts: ReadonlyArray<string | undefined>,
  isHere: (conversation: string) => boolean,
): string | null {
  const { host, pathname } = new URL(url);
  const here = HERE.exec(pathname);
  if (here !== null && hosts.includes(host)) return here[1] ?? null;
  const ofApp = AT_THE_APP.exec(pathname);
  return ofApp !== null && isHere(ofApp[1] ?? '') ? (ofApp[2] ?? null) : null;
}

/**
 * Asks for the value once, now, from inside the sandbox: whoever may hand secrets over may run commands here, so
 * nothing is reached that was not before. A redirect leads nowhere. Neither the headers nor what the address answers is
 * in a failure.
 * @throws SlipwayError `service.unavailable`, or the signal's reason.
 */
export async function lookUp(name: string, { url, headers }: LookupSecret, signal: AbortSignal): Promise<string> {
  const failed = (why: string, cause?: unknown): SlipwayError =>
    new SlipwayError('service.unavailable', `The secret ${name} cannot be fetched from ${new URL(url).host}: ${why}.`, {
      cause,
    });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const answer = await callOut({ method: 'GET', url, headers: headers ?? {}, signal: limit });
    if (answer.statusCode !== 200) {
      await answer.body.dump().catch(() => {});
      throw failed(`it answered with status ${answer.statusCode}`);
    }
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > MAX_BYTES) throw failed(`its value is longer than ${MAX_BYTES / 1024} KiB`);
      parts.push(part);
    }
    const value = Buffer.concat(parts).toString('utf8');
    if (value === '' || value.includes('\0')) throw failed('it has no value that a variable can have');
    return value;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SlipwayError) throw error;
    throw failed(limit.aborted ? `it did not answer within ${TIMEOUT_MS / 1000} s` : 'it cannot be reached', error);
  }
}
