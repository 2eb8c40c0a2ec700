import { Suspense } from 'react';
import { Device } from '../../features/device/device.tsx';
import { titled } from '../../messages/titled.ts';
import { WithMessages } from '../../messages/with-messages.tsx';

export const generateMetadata = titled('app.connectADevice');

export default function DevicePage() {
  return (
    <WithMessages of={['adminApiKeys', 'device', 'permissions']}>
      <Suspense>
        <Device />
      </Suspense>
    </WithMessages>
  );
}
