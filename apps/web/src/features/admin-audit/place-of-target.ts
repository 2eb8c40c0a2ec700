import { type AuditEntry, conversationOfEntry } from '@slipway/contracts/audit';
import type { Translate } from '../../messages/translate.ts';

interface Known {
  readonly slug: string;
  readonly id: string;
  readonly name: string;
  /** Names of users and service accounts and titles of conversations, by id. */
  readonly names: Readonly<Record<string, string>>;
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
  device: 'api-keys',
  secret: 'secrets',
  credential: 'credentials',
  budget: 'budgets',
  'mcp-server': 'mcp-servers',
  'llm-profile': 'models',
  'model-deployment': 'models',
  invitation: 'members',
  member: 'members',
  user: 'members',
  integration: 'integrations',
  webhook: 'integrations',
  domain: 'security',
  security: 'security',
  'egress-rule': 'network',
  setting: 'settings',
  org: 'settings',
  storage: 'storage',
};
/** Nouns whose target is a name already: of a domain, a provider, a model. */
const NAMED_BY_TARGET: ReadonlySet<string> = new Set(['domain', 'connection', 'model-deployment']);
/** Fields that a user knows a thing by, the best first. */
const NAMES = ['name', 'title', 'email', 'client', 'login'] as const;
/** Nouns that a user knows by something else. */
const NAMES_OF: Readonly<Record<string, readonly string[]>> = { 'egress-rule': ['host'] };

/** What an entry is about, as a user knows it. */
export function placeOfTarget(
  t: Translate,
  entry: Pick<AuditEntry, 'action' | 'target' | 'detail' | 'before' | 'after'>,
  known: Known,
): Place {
  const { action, target } = entry;
  const [noun = ''] = action.split('.');
  const conversation = conversationOfEntry(entry);
  if (conversation !== null) {
    const title = known.names[conversation];
    return {
      label: title ?? recordedName(entry) ?? t('adminAudit.conversation', { conversation: conversation.slice(0, 8) }),
      // One that is deleted has no page.
      href: title === undefined ? null : `/${known.slug}/conversations/${encodeURIComponent(conversation)}`,
      isId: false,
    };
  }
  const tab = TABS[noun];
  const href = tab === undefined ? null : `/${known.slug}/admin/${tab}`;
  if (target === known.id) return { label: known.name, href: href ?? `/${known.slug}/admin/settings`, isId: false };
  if (noun === 'session') return { label: t('adminAudit.session'), href: null, isId: false };
  const user = known.names[target];
  if (user !== undefined) return { label: user, href: href ?? `/${known.slug}/admin/members`, isId: false };
  const name = recordedName(entry, NAMES_OF[noun]) ?? (NAMED_BY_TARGET.has(noun) ? target : null);
  return { label: name ?? target, href: name === null && noun === 'member' ? null : href, isId: name === null };
}

function recordedName(
  { detail, after, before }: Pick<AuditEntry, 'detail' | 'before' | 'after'>,
  names: readonly string[] = NAMES,
): string | null {
  for (const field of names)
    for (const values of [detail, after, before]) {
      const value = values?.[field];
      if (typeof value === 'string' && value !== '') return value;
    }
  return null;
}
