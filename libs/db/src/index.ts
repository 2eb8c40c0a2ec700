export { Db, type TenantTx } from './db.js';
export { Prisma } from './generated/client.js';
