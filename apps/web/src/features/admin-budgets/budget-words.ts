import type { BudgetPreview } from '@slipway/contracts/spending';
import type { Translate } from '../../messages/translate.ts';

const NAMED = 5;
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

/** The day on which a month of budgets begins or ends: they change at midnight UTC, wherever one looks from. */
export function utcDay(at: string): string {
  return `${day.format(new Date(at))}, 00:00 UTC`;
}

/** What a change would do, in a sentence and the names of whom it touches. */
export function previewWords(
  t: Translate,
  preview: BudgetPreview,
): { readonly tone: 'ok' | 'warn' | 'bad'; readonly title: string; readonly names: string } {
  if (preview.orgBlocked) return { tone: 'bad', title: t('adminBudgets.everyoneWouldBeBlockedThe'), names: '' };
  const { newlyBlocked, newlyFree, blockedPeople } = preview;
  if (newlyBlocked.length > 0)
    return {
      tone: 'warn',
      title: t('adminBudgets.wouldBeBlockedNow', { people: newlyBlocked.length }),
      names: namesOf(t, newlyBlocked),
    };
  if (newlyFree.length > 0)
    return {
      tone: 'ok',
      title: t('adminBudgets.couldGoOn', { people: newlyFree.length }),
      names: namesOf(t, newlyFree),
    };
  return blockedPeople > 0
    ? { tone: 'warn', title: t('adminBudgets.wouldStayBlocked', { people: blockedPeople }), names: '' }
    : { tone: 'ok', title: t('adminBudgets.noOneWouldBeBlocked'), names: '' };
}

function namesOf(t: Translate, users: ReadonlyArray<{ readonly label: string }>): string {
  const named = users.slice(0, NAMED).map(({ label }) => label);
  return users.length > NAMED
    ? t('adminBudgets.andMore', { names: named.join(', '), count: users.length - NAMED })
    : named.join(', ');
}

/** The spent part of a limit, 0 to 100; `null` without a limit. For a bar: the numbers beside it are exact. */
export function spentPercent({
  limitUsd,
  spentUsd,
}: {
  readonly limitUsd: string | null;
  readonly spentUsd: string;
}): number | null {
  if (limitUsd === null) return null;
  const limit = Number(limitUsd);
  return limit === 0 ? 100 : Math.min(100, (Number(spentUsd) / limit) * 100);
}
