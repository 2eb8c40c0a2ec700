import type { MemberRemoval } from '@slipway/contracts/organizations';
import { useTranslations } from 'next-intl';

/** What ends with a member, and what stays. */
export function RemovalWords({
  removal: { keysRevoked, sandboxesStopping, conversationsKept, invitationsRevoked },
}: {
  removal: MemberRemoval;
}) {
  const t = useTranslations();
  return (
    <ul className="flex list-disc flex-col gap-1 pl-5">
      <li>{t('adminMembers.keysEnd', { keysRevoked })}</li>
      {invitationsRevoked === 0 ? null : <li>{t('adminMembers.invitationsEnd', { invitationsRevoked })}</li>}
      <li>{t('adminMembers.sandboxesPause', { sandboxesStopping })}</li>
      <li>{t('adminMembers.conversationsStay', { conversationsKept })}</li>
    </ul>
  );
}
