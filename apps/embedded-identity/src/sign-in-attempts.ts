/** Wrong passwords in a row that cost nothing; each further one doubles the wait. */
const FREE_ATTEMPTS = 5;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 300_000;
/** Names remembered; the oldest is forgotten first. */
const MAX_NAMES = 10_000;

/** Slows the guessing of one name's password, whether an account of that name exists or not. */
export class SignInAttempts {
  private readonly failures = new Map<string, { count: number; until: number }>();

  /** Milliseconds until this name may try again; 0 now. */
  waitMs(name: string, now: number): number {
    return Math.max(0, (this.failures.get(keyOf(name))?.until ?? 0) - now);
  }

  failed(name: string, now: number): void {
    const key = keyOf(name);
    const count = (this.failures.get(key)?.count ?? 0) + 1;
    const wait = count < FREE_ATTEMPTS ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - FREE_ATTEMPTS));
    this.failures.delete(key);
    const oldest = this.failures.size >= MAX_NAMES ? this.failures.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.failures.delete(oldest.value);
    this.failures.set(key, { count, until: now + wait });
  }

  succeeded(name: string): void {
    this.failures.delete(keyOf(name));
  }
}

function keyOf(name: string): string {
  return name.trim().toLowerCase().slice(0, 200);
}
