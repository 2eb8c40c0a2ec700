export { AdvisoryLocks, type HeldLock, type LockName } from './advisory-locks.js';
export type { Columns } from './columns.js';
export { listen } from './listen.js';
export { PostgresSession, type SessionConnection } from './postgres-session.js';
export {
  asSystem,
  createPool,
  endSilent,
  inOrg,
  inOrgWithDeleted,
  type PoolClient,
  type SqlPool,
  sessionOf,
  showDeleted,
  transactionTime,
} from './tenancy.js';
