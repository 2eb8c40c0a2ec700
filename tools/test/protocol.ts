/** What runner.ts and the process of a test file (child.ts) say to each other. */

/** The only argument of the process, as JSON. */
export interface Order {
  /** What is run: a compiled file, or one whose types Node strips. */
  readonly file: string;
  /** Folder of Node's compile cache. */
  readonly cache: string;
  /** Of a test or hook that sets none. Milliseconds. */
  readonly testTimeoutMs: number;
  readonly maxConcurrency: number;
  /** `-t`. */
  readonly testNamePattern: string | null;
  readonly locations: boolean;
  readonly coverage: boolean;
}

/** One line of JSON each, on descriptor 3. */
export type Message =
  | { readonly kind: 'start'; readonly name: string }
  | { readonly kind: 'test'; readonly test: TestOutcome }
  /** The last one. `errors` belong to no test: hooks of the end, or what was thrown between tests. */
  | { readonly kind: 'end'; readonly errors: readonly string[]; readonly coverage: readonly ScriptCoverage[] };

export interface TestOutcome {
  readonly ancestorTitles: string[];
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'pending' | 'todo';
  readonly skipReason?: string;
  /** Milliseconds. */
  readonly duration: number | null;
  readonly failureMessages: string[];
  readonly location: { readonly line: number; readonly column: number } | null;
}

/** Of V8: how often each range of a script ran. */
export interface ScriptCoverage {
  readonly scriptId: string;
  readonly url: string;
  readonly functions: {
    readonly functionName: string;
    readonly isBlockCoverage: boolean;
    readonly ranges: { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}

/** The reason of what `-t` leaves out; nobody needs a list of it. */
export const NOT_CHOSEN = 'not chosen by -t';
