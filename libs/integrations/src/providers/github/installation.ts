import { z } from 'zod';
import type { Installation } from '../../apps/app-access.js';
import { fields, id, maybe, name } from '../../reading/fields.js';

const account = fields({ id, login: name, type: name });
export const installation = fields({
  id,
  app_id: id,
  account,
  repository_selection: z.enum(['all', 'selected']),
  permissions: z.record(z.string().max(100), z.string().max(20)),
  suspended_at: maybe(z.string().max(64)),
});

export function installationOf(from: z.output<typeof installation>): Installation {
  const { id: accountId, login, type } = from.account;
  return {
    id: from.id,
    appId: from.app_id,
    account: { id: accountId, login, kind: type === 'Organization' ? 'organization' : 'user' },
    repositories: from.repository_selection,
    permissions: from.permissions,
    suspended: from.suspended_at !== null,
  };
}
