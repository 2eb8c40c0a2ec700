/** One schema a service; each has its own role, its own folder in prisma/ and its own history. */
export const SCHEMAS = ['app', 'runtime', 'gateway'] as const;
export type Schema = (typeof SCHEMAS)[number];
