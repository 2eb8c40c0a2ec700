import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { base32, stepOf } from './one-time-code.js';

/** What the tokens call a sign-in with a second factor: app-server's OIDC_SECOND_FACTOR_ACR. */
export const SECOND_FACTOR_ACR = 'second-factor';
const RECOVERY_CODES = 10;
/** 50 bits each: too many to guess, so that a plain SHA-256 keeps them. */
const RECOVERY_LETTERS = 10;

/**
 * The authenticator apps of people, one each, and codes for who has lost theirs. Secrets stand in the store as they
 * are: it holds the signing key too.
 */
export class SecondFactors {
  constructor(private readonly store: DatabaseSync) {}

  has(accountId: string): boolean {
    return this.store.prepare('SELECT 1 FROM second_factor WHERE account_id = ?').get(accountId) !== undefined;
  }

  /**
   * Sets up the authenticator whose code shows that it has the secret; an earlier one and its recovery codes become
   * invalid. @returns the new recovery codes, or `null` for a wrong code.
   */
  setUp(accountId: string, secret: string, code: string, now: number): readonly string[] | null {
    const step = stepOf(plain(code), secret, now);
    if (step === null) return null;
    const codes = Array.from({ length: RECOVERY_CODES }, () => base32(randomBytes(7)).slice(0, RECOVERY_LETTERS));
    this.store.exec('BEGIN IMMEDIATE');
    try {
      this.store
        .prepare('INSERT OR REPLACE INTO second_factor (account_id, secret, last_step) VALUES (?, ?, ?)')
        .run(accountId, secret, step);
      this.store.prepare('DELETE FROM recovery_code WHERE account_id = ?').run(accountId);
      for (const each of codes)
        this.store.prepare('INSERT INTO recovery_code (account_id, hash) VALUES (?, ?)').run(accountId, hashOf(each));
      this.store.exec('COMMIT');
    } catch (error) {
      this.store.exec('ROLLBACK');
      throw error;
    }
    return codes.map((each) => `${each.slice(0, 5)}-${each.slice(5)}`);
  }

  /**
   * Uses up a code of the app, or a recovery code: each counts once, and none of the app's that is older than the last
   * one. @returns which it was, or `null`.
   */
  use(accountId: string, text: string, now: number): 'app' | 'recovery' | null {
    const code = plain(text);
    const factor = this.store.prepare('SELECT secret FROM second_factor WHERE account_id = ?').get(accountId) as
      | { secret: string }
      | undefined;
    if (factor === undefined) return null;
    const step = stepOf(code, factor.secret, now);
    if (step !== null) {
      const { changes } = this.store
        .prepare('UPDATE second_factor SET last_step = ?2 WHERE account_id = ?1 AND last_step < ?2')
        .run(accountId, step);
      return Number(changes) === 1 ? 'app' : null;
    }
    const { changes } = this.store
      .prepare('DELETE FROM recovery_code WHERE account_id = ? AND hash = ?')
      .run(accountId, hashOf(code));
    return Number(changes) === 1 ? 'recovery' : null;
  }

  recoveryCodesLeft(accountId: string): number {
    const { left } = this.store
      .prepare('SELECT count(*) AS left FROM recovery_code WHERE account_id = ?')
      .get(accountId) as { left: number };
    return left;
  }
}

/** Spaces and dashes are for the eye, and so is the case. */
function plain(code: string): string {
  return code.replace(/[\s-]/g, '').toUpperCase();
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}
