import { describe, expect, it } from '@jest/globals';
import { type Org, ROLE_PERMISSIONS, type Role } from '@slipway/contracts/organizations';
import { adminTabs, isAdmin } from './tabs.ts';

const orgOf = (role: Role, kind: Org['kind'] = 'company') => ({ kind, permissions: [...ROLE_PERMISSIONS[role]] });
const paths = (role: Role, kind?: Org['kind']) => adminTabs(orgOf(role, kind)).map((tab) => tab.path);

describe('the tabs about an organization', () => {
  it('shows to each role those that it may read, and no other', () => {
    expect(paths('viewer')).toEqual(['members', 'roles']);
    expect(paths('member')).toEqual([
      'members',
      'roles',
      'models',
      'mcp-servers',
      'secrets',
      'api-keys',
      'credentials',
      'network',
    ]);
    expect(paths('owner')).toEqual([
      'members',
      'roles',
      'models',
      'mcp-servers',
      'secrets',
      'integrations',
      'sandboxes',
      'settings',
      'usage',
      'budgets',
      'storage',
      'api-keys',
      'security',
      'credentials',
      'network',
      'audit',
      'danger',
    ]);
  });

  it('keeps the pages of a group together, so that each group has one heading', () => {
    const groups = adminTabs(orgOf('owner')).map(({ group }) => group);
    expect(groups.filter((group, at) => group !== groups[at - 1])).toEqual(['people', 'agents', 'spend', 'security']);
  });

  it('has no domains where nobody else can join', () => {
    expect(paths('owner', 'personal')).not.toContain('security');
  });

  it('is called Admin for those alone who may do more than work', () => {
    expect((['viewer', 'member', 'admin', 'owner'] as const).filter((role) => isAdmin(orgOf(role)))).toEqual([
      'admin',
      'owner',
    ]);
  });
});
