import { type Org, type Permission, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import type { MessageKey } from '../../messages/translate.ts';

/** How the pages are grouped, in this order; `admin-frame.tsx` has their headings. */
export type AdminGroup = 'people' | 'agents' | 'spend' | 'security';

interface AdminTab {
  readonly group: AdminGroup;
  /** Last part of its address, `/[org]/admin/<path>`. */
  readonly path: string;
  readonly label: MessageKey;
  /** It is shown to who holds any of these. */
  readonly any: readonly Permission[];
  /** It has no meaning where nobody else can join. */
  readonly companyOnly?: true;
}

/**
 * Pages about an organization, group by group, in the order of the tabs. Add one here, and its page at
 * `app/[org]/admin/<path>/page.tsx`.
 */
const ADMIN_TABS = [
  { group: 'people', path: 'members', label: 'common.members', any: ['member:read'] },
  { group: 'people', path: 'roles', label: 'common.roles', any: ['member:read'] },
  { group: 'agents', path: 'models', label: 'common.models', any: ['setting:read'] },
  { group: 'agents', path: 'mcp-servers', label: 'common.mcpServers', any: ['setting:read'] },
  { group: 'agents', path: 'secrets', label: 'common.secrets', any: ['secret:read'] },
  { group: 'agents', path: 'integrations', label: 'common.integrations', any: ['integration:read'] },
  { group: 'agents', path: 'sandboxes', label: 'common.sandboxes', any: ['sandbox:read'] },
  { group: 'agents', path: 'settings', label: 'common.settings', any: ['setting:write'] },
  { group: 'spend', path: 'usage', label: 'common.usage', any: ['usage:read'] },
  { group: 'spend', path: 'budgets', label: 'common.budgets', any: ['budget:read'] },
  { group: 'spend', path: 'storage', label: 'common.storage', any: ['usage:read'] },
  { group: 'security', path: 'api-keys', label: 'common.apiKeys', any: ['api-key:read'] },
  {
    group: 'security',
    path: 'security',
    label: 'common.security',
    any: ['domain:write', 'security:read'],
    companyOnly: true,
  },
  { group: 'security', path: 'credentials', label: 'common.credentials', any: ['credential:read'] },
  { group: 'security', path: 'network', label: 'common.network', any: ['egress:read'] },
  { group: 'security', path: 'audit', label: 'common.audit', any: ['audit:read'] },
  { group: 'security', path: 'danger', label: 'common.dangerZone', any: ['org:write', 'org:transfer', 'org:delete'] },
] as const satisfies readonly AdminTab[];

/** The tabs that this user may open in this organization. */
export function adminTabs(org: Pick<Org, 'permissions' | 'kind'>): readonly AdminTab[] {
  const tabs: readonly AdminTab[] = ADMIN_TABS;
  return tabs.filter(
    (tab) =>
      tab.any.some((permission) => org.permissions.includes(permission)) &&
      (tab.companyOnly === undefined || org.kind === 'company'),
  );
}

/** May they do more than work here? For others the same place is only where they look things up, and is called so. */
export function isAdmin(org: Pick<Org, 'permissions'>): boolean {
  const everybodys: readonly Permission[] = ROLE_PERMISSIONS.member;
  return org.permissions.some((permission) => !everybodys.includes(permission));
}
