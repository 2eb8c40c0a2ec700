/**
 * Whether benches run in their quick form (`npm run bench -- NAME --quick`): to their end in seconds, with so few
 * samples that the figures mean nothing.
 */
export const QUICK = process.env['BENCH_QUICK'] === '1';

/** A number of samples, or a duration: of the bench itself, and of its quick form. */
export function quick<T>(whole: T, few: T): T {
  return QUICK ? few : whole;
}

/** Why a quick form leaves out a peer or a cluster, as a sentence. */
export const NOT_QUICK = 'the quick form starts no cluster and no peer of others';

/** What a bench says that only root can run. */
export const NEEDS_ROOT = 'not measured: needs root';

/** What a bench of pages says without a browser. */
export const NEEDS_CHROMIUM =
  'not measured: no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH';
