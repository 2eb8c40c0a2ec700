import { PERMISSIONS, type Permission } from '@slipway/contracts/organizations';
import type { MessageKey } from '../../messages/translate.ts';

type Noun = Permission extends `${infer N}:${string}` ? N : never;

/** In which group the permissions of a noun stand. */
const GROUP_OF = {
  conversation: 'adminRoles.work',
  prompt: 'adminRoles.work',
  'pull-request': 'adminRoles.work',
  sandbox: 'adminRoles.work',
  member: 'admin.groupPeople',
  org: 'admin.groupPeople',
  secret: 'admin.groupAgents',
  credential: 'admin.groupAgents',
  setting: 'admin.groupAgents',
  integration: 'admin.groupAgents',
  egress: 'admin.groupSecurity',
  usage: 'admin.groupSpend',
  budget: 'admin.groupSpend',
  domain: 'admin.groupSecurity',
  security: 'admin.groupSecurity',
  'api-key': 'admin.groupSecurity',
  'service-account': 'admin.groupSecurity',
  audit: 'admin.groupSecurity',
  'prompt-log': 'admin.groupSecurity',
} as const satisfies Record<Noun, MessageKey>;

/** All permissions, each in one group. */
export const PERMISSION_GROUPS = [...new Set(Object.values(GROUP_OF))].map((label) => ({
  label,
  permissions: PERMISSIONS.filter((permission) => GROUP_OF[permission.split(':')[0] as Noun] === label),
}));
