import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmProgram } from '@slipway/testing/programs';

/** Needs Node 22.19 or newer. */
const VERSION = '13.5.0';

/** What Lighthouse found on one page. */
export interface Judged {
  /** 0 to 1, by name of the category. */
  readonly scores: Readonly<Record<string, number | null>>;
  /** Audits that cost something, as `id: title`. */
  readonly faults: readonly string[];
}

interface Audit {
  readonly id: string;
  readonly title: string;
  readonly score: number | null;
}

interface Result {
  readonly lhr: {
    readonly runtimeError?: { readonly message: string };
    readonly categories: Readonly<
      Record<string, { score: number | null; auditRefs: ReadonlyArray<{ id: string; weight: number }> }>
    >;
    readonly audits: Readonly<Record<string, Audit>>;
  };
}

type Run = (url: string, flags: object) => Promise<Result | undefined>;

/** @returns what judges a page in the browser that listens for its tools at `port`, or why there is none. */
export async function lighthouse(
  port: number,
): Promise<((url: string) => Promise<Judged>) | { readonly missing: string }> {
  const installed = await npmProgram('lighthouse', VERSION);
  if ('missing' in installed) return installed;
  const entry = path.join(installed.modules, 'lighthouse/core/index.js');
  const { default: run } = (await import(pathToFileURL(entry).href)) as { default: Run };
  return async (url) => {
    const result = await run(url, {
      port,
      logLevel: 'error',
      output: 'json',
      onlyCategories: ['accessibility', 'best-practices'],
      // The user stays signed in.
      disableStorageReset: true,
    });
    if (result === undefined) throw new Error(`Lighthouse said nothing of ${url}`);
    const { runtimeError, categories, audits } = result.lhr;
    if (runtimeError !== undefined) throw new Error(`Lighthouse failed at ${url}: ${runtimeError.message}`);
    const counted = Object.values(categories).flatMap(({ auditRefs }) => auditRefs.filter(({ weight }) => weight > 0));
    return {
      scores: Object.fromEntries(Object.entries(categories).map(([name, { score }]) => [name, score])),
      faults: counted.flatMap(({ id }) => {
        const audit = audits[id];
        return audit !== undefined && audit.score !== null && audit.score < 1 ? [`${id}: ${audit.title}`] : [];
      }),
    };
  };
}
