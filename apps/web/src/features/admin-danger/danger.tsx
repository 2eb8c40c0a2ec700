'use client';
import { Notice } from '@slipway/ui';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/me.ts';
import { DeleteSection } from './delete-section.tsx';
import { RenameSection } from './rename-section.tsx';
import { TransferSection } from './transfer-section.tsx';

/** What changes the organization for everybody in it. */
export function Danger() {
  const { org } = useSession();
  const may = (permission: (typeof org.permissions)[number]) => org.permissions.includes(permission);
  return (
    <Page title="Danger zone" description={`What changes ${org.name} for everybody in it.`} narrow>
      {org.deletesAt === null ? (
        <>
          {may('org:write') ? <RenameSection key={org.id} /> : null}
          {may('org:transfer') && org.kind === 'company' ? <TransferSection /> : null}
        </>
      ) : null}
      {may('org:delete') && org.kind === 'company' ? <DeleteSection /> : null}
      {org.kind === 'personal' ? (
        <Notice title="Your personal organization cannot be handed on or deleted.">It belongs to your account and goes with it.</Notice>
      ) : null}
    </Page>
  );
}
