/** What a caller may do. Add one here and to the roles that hold it. */
export const PERMISSIONS = [
  'conversation:create',
  'conversation:read',
  'conversation:write',
  'conversation:delete',
  'prompt:read',
  'prompt:write',
  'prompt:manage',
  'pull-request:write',
  'pull-request:merge',
  'sandbox:access',
  'sandbox:read',
  'sandbox:stop',
  'org:read',
  'org:write',
  'org:transfer',
  'org:delete',
  'member:read',
  'member:invite',
  'member:set-role',
  'member:remove',
  'domain:write',
  'security:read',
  'security:write',
  'api-key:read',
  'api-key:write',
  'api-key:manage',
  'service-account:read',
  'service-account:write',
  'secret:read',
  'secret:write',
  'credential:read',
  'credential:write',
  'setting:read',
  'setting:write',
  'integration:read',
  'integration:write',
  'egress:read',
  'egress:answer',
  'egress:write',
  'usage:read',
  'budget:read',
  'budget:write',
  'audit:read',
  'audit:export',
  'prompt-log:read',
  'prompt-log:write',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/**
 * What only an owner may: to take the organization away from its owners, and to have kept what its people ask models.
 */
const OWNERS_ALONE = ['org:transfer', 'org:delete', 'prompt-log:write'] as const satisfies readonly Permission[];
type OwnersAlone = (typeof OWNERS_ALONE)[number];

/**
 * `prompt-log:write` turns the log of prompts on and off, `prompt-log:read` reads it. `api-key:read` and
 * `api-key:write` are for one's own keys, `api-key:manage` for those of all users. `integration:read` shows connections
 * and what became of deliveries, `integration:write` also what a delivery says. `pull-request:write` publishes what a
 * conversation made, `pull-request:merge` merges it: both also need write access at the git host. `secret:read` shows
 * names and where a secret may go, never what it is; `credential:read` the same of brokered credentials. Conversations
 * are an organization's common work: `conversation:write` halts and resumes all of them. `sandbox:stop` takes a sandbox
 * from another user's, `conversation:delete` deletes another user's; one's own needs only `conversation:write`.
 * `prompt:write` saves prompts of one's own, `prompt:manage` those of the organization, which all with `prompt:read`
 * see. `egress:answer` lets a sandbox reach a host for one conversation, `egress:write` for all of the organization.
 */
export const ROLE_PERMISSIONS = {
  viewer: ['conversation:read', 'prompt:read', 'org:read', 'member:read'],
  member: [
    'conversation:create',
    'conversation:read',
    'conversation:write',
    'prompt:read',
    'prompt:write',
    'pull-request:write',
    'pull-request:merge',
    'sandbox:access',
    'org:read',
    'member:read',
    'api-key:read',
    'api-key:write',
    'secret:read',
    'credential:read',
    'setting:read',
    'egress:read',
    'egress:answer',
  ],
  admin: PERMISSIONS.filter(
    (permission): permission is Exclude<Permission, OwnersAlone> =>
      !(OWNERS_ALONE as readonly Permission[]).includes(permission),
  ),
  owner: PERMISSIONS,
} as const satisfies Record<string, readonly Permission[]>;
export type Role = keyof typeof ROLE_PERMISSIONS;
export const ROLES = Object.keys(ROLE_PERMISSIONS) as [Role, ...Role[]];

/** The authenticated caller. Handlers see this and nothing else of the credential. */
export interface Principal {
  readonly orgId: string;
  readonly actor: {
    readonly kind: 'user' | 'service-account' | 'integration' | 'system';
    readonly id: string;
    readonly label: string;
    /** Id of the API key that authenticated it; absent for a signed-in user. */
    readonly viaKey?: string;
  };
  readonly permissions: ReadonlySet<Permission>;
}

/** A key never grants more than its owner holds: the set is cut at each use, not only when the key is made. */
export function permissionsOfKey(
  scopes: readonly Permission[],
  owner: ReadonlySet<Permission>,
): ReadonlySet<Permission> {
  return new Set(scopes.filter((scope) => owner.has(scope)));
}
