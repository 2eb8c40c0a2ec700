import type { ApiKey } from '@slipway/contracts/identity';
import type { Permission } from '@slipway/contracts/organizations';
import type { MessageKey } from '../../messages/translate.ts';

export const KEY_STATES: Readonly<
  Record<ApiKey['state'], { readonly label: MessageKey; readonly tone: 'ok' | 'warn' | 'neutral' | 'bad' }>
> = {
  active: { label: 'adminApiKeys.active', tone: 'ok' },
  pending: { label: 'adminApiKeys.notYetValid', tone: 'warn' },
  expired: { label: 'adminApiKeys.expired', tone: 'neutral' },
  revoked: { label: 'adminApiKeys.revoked', tone: 'neutral' },
};

/** Days for which a key can be made, as the form offers them. */
export const LIVES = [7, 30, 90, 180, 365] as const;

/** Permissions by their noun, in the order of the table. */
export function byNoun(permissions: readonly Permission[]): ReadonlyArray<readonly [string, readonly Permission[]]> {
  const groups = new Map<string, Permission[]>();
  for (const permission of permissions) {
    const noun = permission.split(':')[0] ?? permission;
    groups.set(noun, [...(groups.get(noun) ?? []), permission]);
  }
  return [...groups];
}

/** What somebody pastes to see that the key works. */
export function curlOf(origin: string, token: string, orgSlug: string): string {
  return `curl -H 'Authorization: Bearer ${token}' '${origin}/api/v1/orgs/${orgSlug}/conversations?limit=5'`;
}
