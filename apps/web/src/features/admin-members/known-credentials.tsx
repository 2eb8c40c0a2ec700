import type { KnownCredential, MemberRemoval } from '@slipway/contracts/organizations';
import { Checkbox, Notice } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { number } from '../../browser/format.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { useSession } from '../session/me.ts';

const KINDS: Readonly<Record<KnownCredential['kind'], { readonly label: MessageKey; readonly page: string }>> = {
  'service-account-key': { label: 'adminMembers.serviceAccountKey', page: '/admin/api-keys?all=true' },
  secret: { label: 'common.secret', page: '/admin/secrets' },
  credential: { label: 'adminMembers.brokeredCredential', page: '/admin/credentials' },
  'model-key': { label: 'adminMembers.modelKey', page: '/admin/models' },
};
const HOW: Readonly<Record<KnownCredential['how'], MessageKey>> = {
  made: 'adminMembers.theyCreatedIt',
  set: 'adminMembers.theySetIt',
  received: 'adminMembers.usedInTheirConversations',
};

/** What somebody may still know after they have left, and the offer to end what can be ended here. */
export function KnownCredentials({
  removal: { knownCredentials, knownCredentialsTotal },
  revokeKeys,
  onRevokeKeys,
}: {
  removal: MemberRemoval;
  revokeKeys: boolean;
  onRevokeKeys: (revoke: boolean) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  if (knownCredentialsTotal === 0) return null;
  const more = knownCredentialsTotal - knownCredentials.length;
  const hasKeys = knownCredentials.some(({ kind }) => kind === 'service-account-key');
  return (
    <Notice tone="warn" title={t('adminMembers.credentialsTheyMayStillKnow')}>
      <p>{t('adminMembers.theseKeepWorkingAfterThe')}</p>
      <ul className="mt-1 flex max-h-40 list-disc flex-col gap-1 overflow-y-auto pl-5">
        {knownCredentials.map(({ kind, id, name, how }) => (
          <li key={id} className="break-words">
            {t(KINDS[kind].label)}{' '}
            <Link href={`/${org.slug}${KINDS[kind].page}`} target="_blank" className="font-medium underline">
              {name}
            </Link>{' '}
            ({t(HOW[how])})
          </li>
        ))}
        {more > 0 ? <li>{t('adminMembers.andMore', { more: number(more) })}</li> : null}
      </ul>
      {hasKeys ? (
        <div className="mt-2">
          <Checkbox
            label={t('adminMembers.revokeTheServiceAccountKeys')}
            checked={revokeKeys}
            onChange={onRevokeKeys}
          />
          <p className="text-xs text-ink-muted">{t('adminMembers.programsThatUseOneOf')}</p>
        </div>
      ) : null}
    </Notice>
  );
}
