/** Retries for each call that begins, in the long run. */
export const RETRY_RATIO = 0.2;
/**
 * What a quiet gateway may spend at once: as much as calls under way fail together when one of several providers dies.
 */
export const RETRY_RESERVE = 100;

/**
 * How many calls may be tried again, over all of this replica. When everything fails, trying again makes it worse: then
 * at most a fifth more is sent.
 */
export class RetryBudget {
  private left = RETRY_RESERVE;

  /** A call begins. */
  called(): void {
    this.left = Math.min(RETRY_RESERVE, this.left + RETRY_RATIO);
  }

  /** Takes one retry, if there is one. */
  take(): boolean {
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}
