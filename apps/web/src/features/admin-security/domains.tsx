'use client';
import type { OrgDomain } from '@slipway/contracts/organizations';
import { Button, EmptyState, Section } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { ClaimDialog } from './claim-dialog.tsx';
import { DomainCard } from './domain-card.tsx';

/** The domains that the organization claims, and the way to claim another. */
export function Domains() {
  const t = useTranslations();
  const { org } = useSession();
  const [claiming, setClaiming] = useState(false);
  const domains = useQuery<readonly OrgDomain[]>({
    queryKey: ['domains', org.id],
    queryFn: async ({ signal }) => (await api.listDomains({ org: org.id, signal })).data,
  });
  return (
    <Section
      title={t('adminSecurity.domains')}
      description={t('adminSecurity.verifyAnEmailDomainSo')}
      action={
        <Button onClick={() => setClaiming(true)}>
          <Plus aria-hidden /> {t('adminSecurity.claimADomain')}
        </Button>
      }
    >
      <QueryPanel query={domains} label={t('adminSecurity.theDomains')}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={t('adminSecurity.noDomains')} className="rounded-lg border border-line">
              {t('adminSecurity.everyoneWhoJoinsNeedsAn')}
            </EmptyState>
          ) : (
            <ul className="flex flex-col gap-3">
              {rows.map((domain) => (
                <li key={domain.domain}>
                  <DomainCard domain={domain} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryPanel>
      {claiming ? <ClaimDialog onClose={() => setClaiming(false)} /> : null}
    </Section>
  );
}
