/**
 * The ready slots that strategies give out, as the bench sees them: it fills them up and checks afterwards, and is not
 * one of the replicas.
 */
export interface RaceStock {
  /** What replicas connect their pool of connections to. */
  readonly databaseUrl: string;
  /** As new: no slot, no claim, no lease of anybody. */
  empty(): Promise<void>;
  /**
   * Full again, and without what was left of the claims before. What a replica has leased and not used stays its own,
   * as in a pool that is refilled.
   */
  fill(count: number): Promise<void>;
  /** How many of these slots are bound, each to a claim of its own, by what would be there after a crash. */
  countBound(slots: readonly string[]): Promise<number>;
  /**
   * CPU of the servers that are claimed from, as far as they are not sessions of the database. Milliseconds since they
   * began.
   */
  serverCpuMs(): number;
}
