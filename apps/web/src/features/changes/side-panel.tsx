'use client';
import { TabPanel, Tabs } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { useView } from '../conversation/conversation-context.ts';
import { isActive } from '../conversations/status-label.ts';
import { useSession } from '../session/me.ts';
import { PANELS } from './panels.ts';
import { useChanges, useFreshChanges } from './use-changes.ts';

/** Beside the timeline. Which tab is open is in the address; one that is not for this user is the first. */
export function SidePanel() {
  const t = useTranslations();
  const [tab, setTab] = useAddressValue('tab');
  useFreshChanges();
  const { org } = useSession();
  const first = useFirstPanel();
  const panels = PANELS.filter(({ needs }) => needs === null || org.permissions.includes(needs));
  return (
    <Tabs
      label={t('changes.panels')}
      value={panels.some(({ value }) => value === tab) && tab !== null ? tab : first}
      onChange={setTab}
      tabs={panels.map(({ value, label: Label }) => ({
        value,
        label: typeof Label === 'string' ? t(Label) : <Label />,
      }))}
    >
      {panels.map(({ value, Body }) => (
        <TabPanel key={value} value={value}>
          <Body />
        </TabPanel>
      ))}
    </Tabs>
  );
}

/** The panel of an address that names none: the changes; until there are any, what an agent does that works or asks. */
function useFirstPanel(): string {
  const active = useView(({ status }) => isActive(status) || status === 'waiting');
  const [worked, setWorked] = useState(active);
  if (active && !worked) setWorked(true);
  const any = (useChanges().data?.files.length ?? 0) > 0;
  return worked && !any ? 'trace' : PANELS[0].value;
}
