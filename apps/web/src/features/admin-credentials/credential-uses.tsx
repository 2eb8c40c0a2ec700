'use client';
import type { Credential, CredentialUses } from '@slipway/contracts/credentials';
import { Dialog, Skeleton } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { number } from '../../browser/format.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';

/** How often a credential was used, by which conversations and where. */
export function CredentialUsesDialog({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const read = useQuery({
    queryKey: ['credential-uses', org.id, credential.id],
    queryFn: ({ signal }) => api.getCredentialUses({ org: org.id, credential: credential.id, signal }),
    staleTime: 0,
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminCredentials.usesOf', { name: credential.name })}
      className="w-[min(560px,calc(100vw-32px))]"
    >
      <div className="flex flex-col gap-4 p-4" aria-busy={read.isPending}>
        <ErrorNotice error={read.error} />
        {read.isPending ? <Skeleton className="h-24" /> : null}
        {read.data === undefined ? null : <Uses uses={read.data} />}
      </div>
    </Dialog>
  );
}

function Uses({ uses: { uses, lastAt, places, conversations } }: { uses: CredentialUses }) {
  const t = useTranslations();
  const { org } = useSession();
  if (lastAt === null) return <p className="text-sm text-ink-muted">{t('adminCredentials.notUsed')}</p>;
  return (
    <>
      <p className="text-sm text-ink">
        {t('adminCredentials.usesInDays', { count: uses, uses: number(uses) })}
        <span className="text-ink-muted">
          {' · '}
          {t('adminCredentials.lastUsed')} <Ago at={lastAt} />
        </span>
      </p>
      {conversations.length === 0 ? null : (
        <Counts label={t('common.conversations')}>
          {conversations.map((each) => (
            <Count key={each.id} uses={each.uses}>
              <Link href={`/${org.slug}/conversations/${each.id}`} dir="auto" className="text-accent underline">
                {each.title}
              </Link>
            </Count>
          ))}
        </Counts>
      )}
      <Counts label={t('adminCredentials.places')}>
        {places.map(({ place, uses: count }) => (
          <Count key={place} uses={count}>
            <bdi dir="ltr" className="font-mono text-xs">
              {place}
            </bdi>
          </Count>
        ))}
      </Counts>
    </>
  );
}

function Counts({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <section aria-label={label} className="flex min-w-0 flex-col gap-1">
      <h3 className="text-xs font-medium text-ink-muted">{label}</h3>
      <ul className="flex flex-col divide-y divide-line">{children}</ul>
    </section>
  );
}

function Count({ uses, children }: { uses: number; children: React.ReactNode }) {
  return (
    <li className="flex items-baseline justify-between gap-4 py-1.5 text-sm">
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
      <span className="shrink-0 tabular-nums text-ink-muted">{number(uses)}</span>
    </li>
  );
}
