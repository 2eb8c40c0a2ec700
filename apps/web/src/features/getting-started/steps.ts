import type { Permission } from '@slipway/contracts/organizations';
import type { MessageKey } from '../../messages/translate.ts';

/** What is known of an organization; `undefined` while it is read or could not be. */
export interface Progress {
  readonly hasGitHost: boolean | undefined;
  readonly hasModel: boolean | undefined;
  readonly hasTask: boolean | undefined;
  readonly hasPullRequest: boolean | undefined;
  readonly hasOthers: boolean | undefined;
}

export interface Step {
  readonly id: keyof Progress;
  readonly label: MessageKey;
  readonly hint: MessageKey;
  readonly isDone: boolean;
  /** Last part of `/[org]/admin/…` where the user can do it; `null`: it is done here, or by an admin. */
  readonly admin: string | null;
}

const STEPS = [
  {
    id: 'hasModel',
    label: 'gettingStarted.model',
    hint: 'gettingStarted.modelHint',
    others: 'gettingStarted.modelByAdmin',
    admin: 'models',
    permission: 'setting:write',
  },
  {
    id: 'hasGitHost',
    label: 'gettingStarted.gitHost',
    hint: 'gettingStarted.gitHostHint',
    others: 'gettingStarted.gitHostByAdmin',
    admin: 'integrations',
    permission: 'integration:write',
  },
  { id: 'hasTask', label: 'gettingStarted.task', hint: 'gettingStarted.taskHint' },
  { id: 'hasPullRequest', label: 'gettingStarted.pullRequest', hint: 'gettingStarted.pullRequestHint' },
  {
    id: 'hasOthers',
    label: 'gettingStarted.people',
    hint: 'gettingStarted.peopleHint',
    admin: 'members',
    permission: 'member:invite',
    companyOnly: true,
  },
] as const satisfies ReadonlyArray<{
  id: keyof Progress;
  label: MessageKey;
  hint: MessageKey;
  others?: MessageKey;
  admin?: string;
  permission?: Permission;
  companyOnly?: true;
}>;

/**
 * The way from a new organization to a first pull request, for this user.
 *
 * @returns `null` while what is done is not known: a step is never shown as open that is done.
 */
export function stepsOf(
  progress: Progress,
  org: { readonly permissions: readonly Permission[]; readonly kind: 'personal' | 'company' },
): readonly Step[] | null {
  const shown = STEPS.filter(
    (step) => !('companyOnly' in step) || (org.kind === 'company' && org.permissions.includes(step.permission)),
  );
  if (shown.some(({ id }) => progress[id] === undefined)) return null;
  return shown.map((step) => {
    const may = !('permission' in step) || org.permissions.includes(step.permission);
    return {
      id: step.id,
      label: step.label,
      hint: may || !('others' in step) ? step.hint : step.others,
      isDone: progress[step.id] === true,
      admin: may && 'admin' in step ? step.admin : null,
    };
  });
}
