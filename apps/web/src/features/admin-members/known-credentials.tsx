import type { KnownCredential, MemberRemoval } from '@slipway/contracts';
import { Checkbox, Notice } from '@slipway/ui';
import Link from 'next/link';
import { number } from '../../browser/format.ts';
import { useSession } from '../session/me.ts';

const KINDS: Readonly<Record<KnownCredential['kind'], { readonly label: string; readonly page: string }>> = {
  'service-account-key': { label: 'Service account key', page: '/admin/api-keys?all=true' },
  secret: { label: 'Secret', page: '/admin/secrets' },
  'model-key': { label: 'Model key', page: '/admin/models' },
};
const HOW: Readonly<Record<KnownCredential['how'], string>> = { made: 'they created it', set: 'they set it', received: 'used in their conversations' };

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
  const { org } = useSession();
  if (knownCredentialsTotal === 0) return null;
  const more = knownCredentialsTotal - knownCredentials.length;
  const hasKeys = knownCredentials.some(({ kind }) => kind === 'service-account-key');
  return (
    <Notice tone="warn" title="Credentials they may still know">
      <p>These keep working after the removal. Rotate the ones that matter.</p>
      <ul className="mt-1 flex max-h-40 list-disc flex-col gap-1 overflow-y-auto pl-5">
        {knownCredentials.map(({ kind, id, name, how }) => (
          <li key={id} className="break-words">
            {KINDS[kind].label}{' '}
            <Link href={`/${org.slug}${KINDS[kind].page}`} target="_blank" className="font-medium underline">
              {name}
            </Link>{' '}
            ({HOW[how]})
          </li>
        ))}
        {more > 0 ? <li>and {number(more)} more</li> : null}
      </ul>
      {hasKeys ? (
        <div className="mt-2">
          <Checkbox label="Revoke the service account keys now" checked={revokeKeys} onChange={onRevokeKeys} />
          <p className="text-xs text-ink-muted">Programs that use one of these keys stop working at once.</p>
        </div>
      ) : null}
    </Notice>
  );
}
