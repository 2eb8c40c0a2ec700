export { freePort } from './free-port.js';
export { type PostgresServer, type RunningPostgres, startPostgresServer } from './postgres-server.js';
