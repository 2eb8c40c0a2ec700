import type { Metadata } from 'next';
import { BudgetsPage } from '../../../../features/admin-budgets/budgets-page.tsx';

export const metadata: Metadata = { title: 'Budgets' };

export default function Page() {
  return <BudgetsPage />;
}
