import type { AuditEntry } from '@slipway/contracts';

interface Known {
  readonly slug: string;
  readonly id: string;
  readonly name: string;
  /** Names of users by id. */
  readonly members: ReadonlyMap<string, string>;
}

export interface Place {
  readonly label: string;
  /** Where it is, in this organization; `null` when it has no page. */
  readonly href: string | null;
  /** The label is an id: nobody knows a name. */
  readonly isId: boolean;
}

/** The tab of admin in which things of a noun are. */
const TABS: Readonly<Record<string, string>> = {
  'api-key': 'api-keys',
  'service-account': 'api-keys',
  secret: 'secrets',
  budget: 'budgets',
  'mcp-server': 'mcp-servers',
  invitation: 'members',
  integration: 'integrations',
};

/** What an entry is about, as a user knows it. */
export function placeOfTarget({ action, target, detail }: Pick<AuditEntry, 'action' | 'target' | 'detail'>, known: Known): Place {
  const [noun = ''] = action.split('.');
  const named = typeof detail['name'] === 'string' && detail['name'] !== '' ? detail['name'] : null;
  if (noun === 'conversation')
    return {
      label: typeof detail['title'] === 'string' ? detail['title'] : `Conversation ${target.slice(0, 8)}`,
      href: `/${known.slug}/conversations/${encodeURIComponent(target)}`,
      isId: false,
    };
  const member = known.members.get(target);
  if (member !== undefined) return { label: member, href: `/${known.slug}/admin/members`, isId: false };
  if (target === known.id) return { label: known.name, href: `/${known.slug}/admin/settings`, isId: false };
  const tab = TABS[noun];
  return { label: named ?? target, href: tab === undefined ? null : `/${known.slug}/admin/${tab}`, isId: named === null };
}
