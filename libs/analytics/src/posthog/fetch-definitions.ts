import { FlagDefinitions } from '../flags/definitions.js';

const TIMEOUT_MS = 10_000;
/** Longest answer. Bytes. */
const MAX_BYTES = 4 * 2 ** 20;

export interface DefinitionsSource {
  readonly host: string;
  readonly key: string;
  /** `phs_…` */
  readonly flagsKey: string;
}

/**
 * What PostHog said: new definitions, that the known ones hold, or nothing that could be used. 402 (quota) and every
 * other refusal are the last: known ones hold.
 */
export type FetchedDefinitions =
  | { readonly kind: 'changed'; readonly definitions: FlagDefinitions; readonly etag: string | null }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Never rejects. @param etag of the known ones. */
export async function fetchDefinitions(
  { host, key, flagsKey }: DefinitionsSource,
  etag: string | null,
): Promise<FetchedDefinitions> {
  try {
    const response = await fetch(`${host}/flags/definitions?token=${encodeURIComponent(key)}&send_cohorts`, {
      headers: { authorization: `Bearer ${flagsKey}`, ...(etag === null ? {} : { 'if-none-match': etag }) },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return response.status === 304 ? { kind: 'unchanged' } : { kind: 'failed', reason: String(response.status) };
    }
    const read = FlagDefinitions.safeParse(JSON.parse(await bounded(response)));
    return read.success
      ? { kind: 'changed', definitions: read.data, etag: response.headers.get('etag')?.slice(0, 200) ?? null }
      : { kind: 'failed', reason: 'answer' };
  } catch (error) {
    return {
      kind: 'failed',
      reason: error instanceof SyntaxError || error instanceof RangeError ? 'answer' : 'network',
    };
  }
}

async function bounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new RangeError('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
