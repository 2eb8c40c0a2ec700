/** Injection tokens of what is no class. `Db`, `PrincipalService` and `Sessions` are injected by their class. */
export const CONFIG = Symbol('Config');
/** `SqlPool` of `@slipway/db/sql`. */
export const SQL_POOL = Symbol('SqlPool');
export const LOGGER = Symbol('Logger');
export const CLOCK = Symbol('Clock');
export const IDS = Symbol('Ids');
/** The prom-client `Registry` that `/metrics` prints. */
export const METRICS = Symbol('Registry');
