import type { Metadata } from 'next';
import { SettingsPage } from '../../../../features/admin-settings/settings-page.tsx';

export const metadata: Metadata = { title: 'Settings · Slipway' };

export default function Page() {
  return <SettingsPage />;
}
