'use client';
import { TabPanel, Tabs } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useAddressValue } from '../../browser/address.ts';
import { useSession } from '../session/me.ts';
import { PANELS } from './panels.ts';
import { useFreshChanges } from './use-changes.ts';

/** Beside the timeline. Which tab is open is in the address; one that is not for this user is the first. */
export function SidePanel() {
  const t = useTranslations();
  const [tab, setTab] = useAddressValue('tab');
  useFreshChanges();
  const { org } = useSession();
  const panels = PANELS.filter(({ needs }) => needs === null || org.permissions.includes(needs));
  return (
    <Tabs
      label={t('changes.panels')}
      value={panels.some(({ value }) => value === tab) && tab !== null ? tab : PANELS[0].value}
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
