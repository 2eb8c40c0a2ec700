import type { Metadata } from 'next';
import { Suspense } from 'react';
import { Device } from '../../features/device/device.tsx';

export const metadata: Metadata = { title: 'Connect a program' };

export default function DevicePage() {
  return (
    <Suspense>
      <Device />
    </Suspense>
  );
}
