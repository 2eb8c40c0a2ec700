import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { hashPassword, verifyPassword } from './password.js';

export interface Account {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly name: string;
}

export const MIN_PASSWORD_LENGTH = 8;

/** What the registration page asks for. */
export const Registration = z.object({
  name: z.string().trim().min(1, 'Enter your name.').max(100, 'Use at most 100 characters.'),
  email: z.string().trim().max(200).pipe(z.email('Enter an e-mail address, such as ada@example.com.')),
  username: z
    .string()
    .trim()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{1,39}$/,
      'Use 2 to 40 letters, digits, dots, dashes or underscores; begin with a letter or digit.',
    ),
  password: z
    .string()
    .min(MIN_PASSWORD_LENGTH, `Use at least ${MIN_PASSWORD_LENGTH} characters.`)
    .max(200, 'Use at most 200 characters.'),
});
export type Registration = z.infer<typeof Registration>;

export const DEMO = { username: 'demo', password: 'demo', name: 'Demo Person', email: 'demo@example.test' } as const;

/** The people of this issuer. Passwords are kept as scrypt hashes only. */
export class Accounts {
  constructor(private readonly store: DatabaseSync) {}

  /** Makes the demo user when there is none. */
  async ensureDemo(): Promise<void> {
    if (this.bySignInName(DEMO.username) === undefined) await this.register(DEMO);
  }

  /** @returns which of the two names is taken, when one is. */
  async register(user: Registration): Promise<Account | 'username-taken' | 'email-taken'> {
    const account = { id: randomUUID(), username: user.username, email: user.email, name: user.name };
    const hash = await hashPassword(user.password);
    const { changes } = this.store
      .prepare(
        'INSERT INTO account (id, username, email, name, password_hash, created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      )
      .run(account.id, account.username, account.email, account.name, hash, new Date().toISOString());
    if (Number(changes) === 1) return account;
    return this.store.prepare('SELECT 1 FROM account WHERE username = ?').get(user.username) === undefined
      ? 'email-taken'
      : 'username-taken';
  }

  /**
   * The account whose user name or e-mail address and password these are, or `null`. As slow for an unknown name as for
   * a wrong password.
   */
  async verify(signInName: string, password: string): Promise<Account | null> {
    const row = this.bySignInName(signInName);
    const right = await verifyPassword(password, row?.password_hash ?? '');
    return row !== undefined && right ? { id: row.id, username: row.username, email: row.email, name: row.name } : null;
  }

  find(id: string): Account | undefined {
    return this.store.prepare('SELECT id, username, email, name FROM account WHERE id = ?').get(id) as
      | Account
      | undefined;
  }

  private bySignInName(name: string): (Account & { password_hash: string }) | undefined {
    return this.store
      .prepare('SELECT id, username, email, name, password_hash FROM account WHERE username = ?1 OR email = ?1')
      .get(name.trim()) as (Account & { password_hash: string }) | undefined;
  }
}
