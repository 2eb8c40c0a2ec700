import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { placeOfTarget } from './place-of-target.ts';

const CONVERSATION = '01234567-89ab-4def-8123-456789abcdef';
const GONE = '11234567-89ab-4def-8123-456789abcdef';
const known = { slug: 'acme', id: 'org-1', name: 'Acme', names: { 'usr-1': 'Ada', [CONVERSATION]: 'Mend the build' } };
const of = (
  action: string,
  target: string,
  values: { detail?: Record<string, unknown>; before?: Record<string, unknown>; after?: Record<string, unknown> } = {},
) =>
  placeOfTarget(
    t,
    { action, target, detail: values.detail ?? {}, before: values.before ?? null, after: values.after ?? null },
    known,
  );

describe('what an entry of the audit is about', () => {
  it('is the conversation by its title, whatever was done to it', () => {
    const place = { label: 'Mend the build', href: `/acme/conversations/${CONVERSATION}`, isId: false };
    expect(of('conversation.approve', CONVERSATION)).toEqual(place);
    expect(of('pull-request.merge', CONVERSATION)).toEqual(place);
    expect(of('sandbox.access', `${CONVERSATION}:8000`)).toEqual(place);
    expect(of('egress-request.allow', `${CONVERSATION}:egq-1`, { detail: { host: 'api.example.com' } })).toEqual(place);
    expect(of('conversation.delete', GONE, { before: { title: 'Old' } })).toEqual({
      label: 'Old',
      href: null,
      isId: false,
    });
    expect(of('sandbox.stop', GONE)).toEqual({ label: 'Conversation 11234567', href: null, isId: false });
  });

  it('is a name with a link where there is a page', () => {
    expect(of('member.set-role', 'usr-1')).toEqual({ label: 'Ada', href: '/acme/admin/members', isId: false });
    expect(of('budget.override', 'usr-1')).toEqual({ label: 'Ada', href: '/acme/admin/budgets', isId: false });
    expect(of('org.update', 'org-1')).toEqual({ label: 'Acme', href: '/acme/admin/settings', isId: false });
    expect(of('security.update', 'org-1')).toEqual({ label: 'Acme', href: '/acme/admin/security', isId: false });
    expect(of('api-key.create', 'key-1', { detail: { name: 'CI' } })).toEqual({
      label: 'CI',
      href: '/acme/admin/api-keys',
      isId: false,
    });
    expect(of('mcp-server.delete', 'x', { before: { name: 'tracker' } })).toEqual({
      label: 'tracker',
      href: '/acme/admin/mcp-servers',
      isId: false,
    });
    expect(of('egress-rule.delete', 'egr-1', { before: { host: '*.example.com' } })).toEqual({
      label: '*.example.com',
      href: '/acme/admin/network',
      isId: false,
    });
    expect(of('invitation.create', 'x', { after: { email: 'g@example.test' } })).toMatchObject({
      label: 'g@example.test',
      href: '/acme/admin/members',
    });
    expect(of('domain.claim', 'example.test')).toEqual({
      label: 'example.test',
      href: '/acme/admin/security',
      isId: false,
    });
    expect(of('session.start', 'ses-1')).toEqual({ label: 'Session', href: null, isId: false });
  });

  it('is the id where nobody knows more', () => {
    expect(of('member.remove', 'usr-gone')).toEqual({ label: 'usr-gone', href: null, isId: true });
    expect(of('blob.read', 'x')).toEqual({ label: 'x', href: null, isId: true });
  });
});
