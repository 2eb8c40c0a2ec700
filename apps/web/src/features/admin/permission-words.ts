import type { Permission } from '@slipway/contracts/organizations';
import type { MessageKey, Translate } from '../../messages/translate.ts';

/** What a permission (`noun:verb`) lets somebody do; one that this page does not know yet stays as it is. */
export function permissionWords(t: Translate, permission: Permission): string {
  const key =
    `permissions.${permission.replaceAll(/[-:]([a-z])/g, (_, letter: string) => letter.toUpperCase())}` as MessageKey;
  return t.has(key) ? t(key) : permission;
}
