export { isUniqueViolation, type Prisma, type UserStore, userStore } from './user-store.js';
