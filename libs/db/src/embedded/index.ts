export { freePort } from './free-port.js';
export { type PostgresServer, startPostgresServer } from './postgres-server.js';
