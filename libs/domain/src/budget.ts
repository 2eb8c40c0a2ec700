/** What a person reads whose work a spent budget stops. Both who starts something and who is in the middle of it read the same sentence. */
export function budgetReason(stop: { readonly whose: string | null; readonly limitUsd: string; readonly until: Date }): string {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(stop.until);
  const budget = stop.whose === null ? "The organization's budget" : `The budget of ${stop.whose}`;
  return `${budget} of ${stop.limitUsd} USD a month is used up. It begins again on ${day} at 00:00 UTC; until then an admin can raise it.`;
}
