import type { Metadata } from 'next';
import { LinkedAccounts } from '../../../features/settings-linked-accounts/linked-accounts.tsx';

export const metadata: Metadata = { title: 'Linked accounts' };

export default function LinkedAccountsPage() {
  return <LinkedAccounts />;
}
