export { freePort, type PostgresServer, startPostgresServer } from './postgres-server.js';
