export { asSystem, createPool, inOrg, type PoolClient, type SqlPool } from './tenancy.js';
