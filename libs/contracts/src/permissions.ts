/** What a caller may do. Add one here and to the roles that hold it. */
export const PERMISSIONS = ['conversation:create', 'conversation:read', 'conversation:write', 'sandbox:access', 'org:read', 'org:delete'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const ROLE_PERMISSIONS = {
  viewer: ['conversation:read', 'org:read'],
  member: ['conversation:create', 'conversation:read', 'conversation:write', 'sandbox:access', 'org:read'],
  admin: PERMISSIONS.filter((permission): permission is Exclude<Permission, 'org:delete'> => permission !== 'org:delete'),
  owner: PERMISSIONS,
} as const satisfies Record<string, readonly Permission[]>;
export type Role = keyof typeof ROLE_PERMISSIONS;
export const ROLES = Object.keys(ROLE_PERMISSIONS) as [Role, ...Role[]];

/** Who is asking, however they proved it. Handlers see this and nothing else of the proof. */
export interface Principal {
  readonly orgId: string;
  readonly actor: { readonly kind: 'user' | 'api-key' | 'integration' | 'system'; readonly id: string; readonly label: string };
  readonly permissions: ReadonlySet<Permission>;
}
