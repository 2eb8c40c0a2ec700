/** What a checkpoint holds, beside the built-in list. Parsed by the caller; patterns as in `matcherOf`. */
export interface PolicyRules {
  /** Lifts caches and heavy folders into the kept class, and wins over `exclude`. */
  readonly include: readonly string[];
  /** Never captured, and left alone by every restore. */
  readonly exclude: readonly string[];
  /** Folders that are heavy though their name is not on the built-in list, root name included: ignored and large. */
  readonly heavy: readonly string[];
  /** Files over so many bytes on disk are not captured. */
  readonly maxFileBytes: number;
}

export const DEFAULT_RULES: PolicyRules = { include: [], exclude: [], heavy: [], maxFileBytes: 4 * 2 ** 30 };
