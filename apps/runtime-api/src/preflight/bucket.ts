import { SlipwayError } from '@slipway/errors';
import { openWorkspaceStore, probeStore } from '@slipway/sandbox/adapters/kubernetes';

/** Longest check. Milliseconds; each request within it has shorter bounds. */
const TIMEOUT_MS = 20_000;
const VALUE = 'sandboxes.workspaceStore';
/** The variable of a Secret that is missing is left as it is. */
const isUnfilled = (value: string): boolean => /\$\([A-Z_]+\)/.test(value);

/**
 * Whether workspaces can be kept in the bucket: an object is written, read and deleted. `null`: yes, or it is a folder,
 * which is not mounted here. Without keys (`accessKeyId`) the identity is runtime-api's own, which this program does
 * not have: then only anonymous access is tried, and `helm test` tries everything else.
 */
export async function bucket(store: string, accessKeyId: string | undefined): Promise<string | null> {
  const url = new URL(store);
  if (url.protocol !== 's3:') return null;
  if (accessKeyId === undefined || accessKeyId === '' || isUnfilled(accessKeyId)) return exists(url);
  try {
    await probeStore(await openWorkspaceStore(url), AbortSignal.timeout(TIMEOUT_MS));
    return null;
  } catch (error) {
    return `${VALUE}.url: ${wordsOf(error)} ${nextStep(error, url.hostname)}`;
  }
}

/** A bucket that does not exist is no secret. */
async function exists(url: URL): Promise<string | null> {
  const endpoint = url.searchParams.get('endpoint');
  const region = url.searchParams.get('region');
  const address =
    endpoint === null
      ? `https://${url.hostname}.s3.${region === null ? '' : `${region}.`}amazonaws.com/?list-type=2&max-keys=1`
      : `${endpoint.replace(/\/+$/, '')}/${url.hostname}?list-type=2&max-keys=1`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
    if (response.status !== 404) {
      await response.body?.cancel();
      return null;
    }
    return (await response.text()).slice(0, 2_000).includes('NoSuchBucket')
      ? `${VALUE}.url: there is no bucket ${url.hostname}. Make it, or correct the name.`
      : null;
  } catch (error) {
    return `${VALUE}.url: ${new URL(address).host} cannot be reached: ${wordsOf(error)}`;
  }
}

function nextStep(error: unknown, name: string): string {
  const words = wordsOf(error);
  if (words.includes('NoSuchBucket')) return `Make the bucket ${name}, or correct the name.`;
  if (/\b40[13]\b/.test(words))
    return `The keys of ${VALUE}.existingSecret need ListBucket, GetObject, PutObject and DeleteObject there.`;
  return 'Paused conversations would lose their files.';
}

/** What the store answered, or the innermost words of what is in the way of it. */
function wordsOf(error: unknown): string {
  if (error instanceof SlipwayError) return error.detail;
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1_000} s.`;
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  if (innermost instanceof AggregateError && innermost.errors[0] instanceof Error) innermost = innermost.errors[0];
  const { message = String(innermost) } = innermost as { message?: string };
  return message === '' ? 'no reason was given.' : message.endsWith('.') ? message : `${message}.`;
}
