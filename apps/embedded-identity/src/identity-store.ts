import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** How long a writer waits for another process that holds the file. Milliseconds. */
const BUSY_TIMEOUT_MS = 3_000;

/** One SQLite file for everything that must outlive a restart. Only this user can read it: it holds the signing key. */
export function openStore(directory: string): DatabaseSync {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, 'identity.sqlite');
  // Made with its mode before SQLite opens it; its journal files take the mode of the file.
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const store = new DatabaseSync(file);
  store.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
    CREATE TABLE IF NOT EXISTS account (
      id TEXT PRIMARY KEY, username TEXT NOT NULL UNIQUE COLLATE NOCASE, email TEXT NOT NULL UNIQUE COLLATE NOCASE,
      name TEXT NOT NULL, password_hash TEXT NOT NULL, created_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS second_factor (account_id TEXT PRIMARY KEY, secret TEXT NOT NULL, last_step INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS recovery_code (account_id TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (account_id, hash)) STRICT;
    CREATE TABLE IF NOT EXISTS artifact (
      model TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL, uid TEXT, grant_id TEXT, consumed_at INTEGER, expires_at INTEGER,
      PRIMARY KEY (model, id)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS artifact_uid ON artifact (model, uid) WHERE uid IS NOT NULL;
    CREATE INDEX IF NOT EXISTS artifact_grant ON artifact (grant_id) WHERE grant_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS artifact_expiry ON artifact (expires_at) WHERE expires_at IS NOT NULL;
    CREATE TABLE IF NOT EXISTS key_material (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  `);
  return store;
}
