'use client';
import { Button, Notice, TabPanel, Tabs } from '@slipway/ui';
import { UserPlus } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/me.ts';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LeaveButton } from './leave-button.tsx';
import { People } from './people.tsx';

export function Members() {
  const t = useTranslations();
  const { org } = useSession();
  const [view, setView] = useAddressValue('view');
  const [inviting, setInviting] = useState(false);
  const invites = org.permissions.includes('member:invite') && org.kind === 'company';
  return (
    <Page
      title={t('common.members')}
      description={t('adminMembers.usersInAndTheirRoles', { name: org.name })}
      action={
        <div className="flex gap-2">
          {org.kind === 'company' ? <LeaveButton /> : null}
          {invites ? (
            <Button tone="primary" onClick={() => setInviting(true)}>
              <UserPlus aria-hidden /> {t('adminMembers.invitePeople')}
            </Button>
          ) : null}
        </div>
      }
    >
      {org.kind === 'personal' ? (
        <Notice
          title={t('adminMembers.thisIsYourPersonalOrganization')}
          action={
            <Button asChild>
              <Link href="/orgs/new">{t('adminMembers.createOrganization')}</Link>
            </Button>
          }
        >
          {t('adminMembers.toWorkWithOthersCreate')}
        </Notice>
      ) : null}
      {invites ? (
        <Tabs
          label={t('adminMembers.usersAndInvitations')}
          value={view === 'invitations' ? view : 'people'}
          onChange={(value) => setView(value === 'people' ? null : value, 'push')}
          tabs={[
            { value: 'people', label: t('common.users') },
            { value: 'invitations', label: t('adminMembers.invitations2') },
          ]}
        >
          <TabPanel value="people">
            <div className="pt-4">
              <People />
            </div>
          </TabPanel>
          <TabPanel value="invitations">
            <div className="pt-4">
              <Invitations invite={() => setInviting(true)} />
            </div>
          </TabPanel>
        </Tabs>
      ) : (
        <People />
      )}
      {inviting ? <InviteDialog onClose={() => setInviting(false)} /> : null}
    </Page>
  );
}
