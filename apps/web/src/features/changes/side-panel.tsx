'use client';
import { TabPanel, Tabs } from '@slipway/ui';
import { useAddressValue } from '../../browser/address.ts';
import { Ports } from '../ports/ports.tsx';
import { useSession } from '../session/me.ts';
import { Changes } from './changes.tsx';
import { Details } from './details.tsx';
import { useChanges } from './use-changes.ts';

/** Beside the timeline. Which tab is open is in the address; one that is not for this person is the first. */
export function SidePanel() {
  const [tab, setTab] = useAddressValue('tab');
  const changes = useChanges();
  const { org } = useSession();
  const ports = org.permissions.includes('sandbox:access');
  const count = changes.data?.files.length ?? 0;
  return (
    <Tabs
      label="Panels"
      value={tab === 'details' || (tab === 'ports' && ports) ? tab : 'changes'}
      onChange={setTab}
      tabs={[
        {
          value: 'changes',
          label: <>Changes {count > 0 ? <span className="rounded-full bg-raised px-1.5 text-xs text-ink-muted tabular-nums">{count}</span> : null}</>,
        },
        ...(ports ? [{ value: 'ports', label: 'Ports' }] : []),
        { value: 'details', label: 'Details' },
      ]}
    >
      <TabPanel value="changes">
        <Changes changes={changes} />
      </TabPanel>
      {ports ? (
        <TabPanel value="ports">
          <Ports />
        </TabPanel>
      ) : null}
      <TabPanel value="details">
        <Details />
      </TabPanel>
    </Tabs>
  );
}
