'use client';
import { TabPanel, Tabs } from '@slipway/ui';
import { useAddressValue } from '../../browser/address.ts';
import { Changes } from './changes.tsx';
import { Details } from './details.tsx';
import { useChanges } from './use-changes.ts';

/** Beside the timeline. Which tab is open is in the address. */
export function SidePanel() {
  const [tab, setTab] = useAddressValue('tab');
  const changes = useChanges();
  const count = changes.data?.files.length ?? 0;
  return (
    <Tabs
      label="Panels"
      value={tab === 'details' ? 'details' : 'changes'}
      onChange={setTab}
      tabs={[
        {
          value: 'changes',
          label: <>Changes {count > 0 ? <span className="rounded-full bg-raised px-1.5 text-xs text-ink-muted tabular-nums">{count}</span> : null}</>,
        },
        { value: 'details', label: 'Details' },
      ]}
    >
      <TabPanel value="changes">
        <Changes changes={changes} />
      </TabPanel>
      <TabPanel value="details">
        <Details />
      </TabPanel>
    </Tabs>
  );
}
