import { BudgetsPage } from '../../../../features/admin-budgets/budgets-page.tsx';
import { titled } from '../../../../messages/titled.ts';
import { WithMessages } from '../../../../messages/with-messages.tsx';

export const generateMetadata = titled('common.budgets');

export default function Page() {
  return (
    <WithMessages of={['adminBudgets']}>
      <BudgetsPage />
    </WithMessages>
  );
}
