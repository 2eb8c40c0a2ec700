import { describe, expect, it } from '@jest/globals';
import { ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { type Progress, stepsOf } from './steps.ts';

const NOTHING: Progress = {
  hasGitHost: false,
  hasModel: false,
  hasTask: false,
  hasPullRequest: false,
  hasOthers: false,
};
const owner = { permissions: ROLE_PERMISSIONS.owner, kind: 'company' } as const;
const member = { permissions: ROLE_PERMISSIONS.member, kind: 'company' } as const;

describe('the first steps in an organization', () => {
  it('lead an owner from a model to a pull request and to colleagues', () => {
    expect(stepsOf(NOTHING, owner)?.map(({ id, admin }) => [id, admin])).toEqual([
      ['hasModel', 'models'],
      ['hasGitHost', 'integrations'],
      ['hasTask', null],
      ['hasPullRequest', null],
      ['hasOthers', 'members'],
    ]);
  });

  it('send a member to no page that refuses them, and say who can do it', () => {
    const steps = stepsOf(NOTHING, member) ?? [];
    expect(steps.map(({ id }) => id)).toEqual(['hasModel', 'hasGitHost', 'hasTask', 'hasPullRequest']);
    expect(steps.every(({ admin }) => admin === null)).toBe(true);
    expect(steps[1]?.hint).toBe('gettingStarted.gitHostByAdmin');
  });

  it('ask nobody into a personal organization', () => {
    expect(stepsOf(NOTHING, { ...owner, kind: 'personal' })?.map(({ id }) => id)).not.toContain('hasOthers');
  });

  it('are not shown while it is unknown whether one is done', () => {
    expect(stepsOf({ ...NOTHING, hasGitHost: undefined }, member)).toBeNull();
    expect(stepsOf({ ...NOTHING, hasOthers: undefined }, member)).not.toBeNull();
  });
});
