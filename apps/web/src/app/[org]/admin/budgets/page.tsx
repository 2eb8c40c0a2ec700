import type { Metadata } from 'next';
import { BudgetsPage } from '../../../../features/admin-budgets/budgets-page.tsx';

export const metadata: Metadata = { title: 'Budgets · Slipway' };

export default function Page() {
  return <BudgetsPage />;
}
