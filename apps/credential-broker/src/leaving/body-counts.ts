/** What was seen of one body. */
export interface BodyCounts {
  readonly type: string;
  readonly bytes: number;
  /** Compared with nothing. */
  readonly unreadBytes: number;
  /** Text of the workspace, by folder. */
  readonly found: ReadonlyMap<string, number>;
}
