import { describe, it } from 'node:test';
import { expect } from 'expect';
import { placeOfTarget } from './place-of-target.ts';

const known = { slug: 'acme', id: 'org-1', name: 'Acme', members: new Map([['user-1', 'Ada']]) };
const of = (action: string, target: string, detail: Record<string, unknown> = {}) => placeOfTarget({ action, target, detail }, known);

describe('what an entry of the audit is about', () => {
  it('is a name with a link where there is a page', () => {
    expect(of('conversation.approve', '01234567-89ab')).toEqual({ label: 'Conversation 01234567', href: '/acme/conversations/01234567-89ab', isId: false });
    expect(of('member.set-role', 'user-1')).toEqual({ label: 'Ada', href: '/acme/admin/members', isId: false });
    expect(of('org.rename', 'org-1')).toMatchObject({ label: 'Acme' });
    expect(of('api-key.create', 'key-1', { name: 'CI' })).toEqual({ label: 'CI', href: '/acme/admin/api-keys', isId: false });
  });

  it('is the id where nobody knows more', () => {
    expect(of('member.remove', 'user-gone')).toEqual({ label: 'user-gone', href: null, isId: true });
    expect(of('blob.read', 'x')).toEqual({ label: 'x', href: null, isId: true });
  });
});
