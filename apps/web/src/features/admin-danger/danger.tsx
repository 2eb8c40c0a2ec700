'use client';
import { Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/me.ts';
import { DeleteSection } from './delete-section.tsx';
import { RenameSection } from './rename-section.tsx';
import { TransferSection } from './transfer-section.tsx';

/** What changes the organization for everybody in it. */
export function Danger() {
  const t = useTranslations();
  const { org } = useSession();
  const may = (permission: (typeof org.permissions)[number]) => org.permissions.includes(permission);
  return (
    <Page
      title={t('common.dangerZone')}
      description={t('adminDanger.actionsThatAffectEveryoneIn', { name: org.name })}
      narrow
    >
      {org.deletesAt === null ? (
        <>
          {may('org:write') ? <RenameSection key={org.id} /> : null}
          {may('org:transfer') && org.kind === 'company' ? <TransferSection /> : null}
        </>
      ) : null}
      {may('org:delete') && org.kind === 'company' ? <DeleteSection /> : null}
      {org.kind === 'personal' ? (
        <Notice title={t('adminDanger.yourPersonalOrganizationCannotBe')}>
          {t('adminDanger.itBelongsToYourAccount')}
        </Notice>
      ) : null}
    </Page>
  );
}
