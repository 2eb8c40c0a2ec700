'use client';
import { Button, Notice, TabPanel, Tabs } from '@slipway/ui';
import { UserPlus } from 'lucide-react';
import Link from 'next/link';
import { useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { Page } from '../frame/page.tsx';
import { useSession } from '../session/me.ts';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LeaveButton } from './leave-button.tsx';
import { People } from './people.tsx';

export function Members() {
  const { org } = useSession();
  const [view, setView] = useAddressValue('view');
  const [inviting, setInviting] = useState(false);
  const invites = org.permissions.includes('member:invite') && org.kind === 'company';
  return (
    <Page
      title="Members"
      description={`Who belongs to ${org.name}, and what they may do in it.`}
      action={
        <div className="flex gap-2">
          {org.kind === 'company' ? <LeaveButton /> : null}
          {invites ? (
            <Button tone="primary" onClick={() => setInviting(true)}>
              <UserPlus aria-hidden /> Invite people
            </Button>
          ) : null}
        </div>
      }
    >
      {org.kind === 'personal' ? (
        <Notice
          title="This is your personal organization; nobody else can join it."
          action={
            <Button asChild>
              <Link href="/orgs/new">Create organization</Link>
            </Button>
          }
        >
          To work with others, create an organization for all of you.
        </Notice>
      ) : null}
      {invites ? (
        <Tabs
          label="People and invitations"
          value={view === 'invitations' ? view : 'people'}
          onChange={(value) => setView(value === 'people' ? null : value, 'push')}
          tabs={[
            { value: 'people', label: 'People' },
            { value: 'invitations', label: 'Invitations' },
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
