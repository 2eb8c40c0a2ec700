import type { LinkableConnection, LinkedAccount } from '@slipway/contracts/identity';

type Place = Pick<LinkableConnection, 'orgId' | 'provider' | 'host'>;

/** Where an account counts: one organization and one host. */
export function keyOf({ orgId, provider, host }: Place): string {
  return `${orgId} ${provider} ${host}`;
}

/** One way for each place where no account is linked yet; several connections of a host are one place. */
export function stillToLink(
  linkable: readonly LinkableConnection[],
  accounts: ReadonlyArray<Place & Pick<LinkedAccount, 'state'>>,
): readonly LinkableConnection[] {
  const taken = new Set(accounts.filter(({ state }) => state === 'linked').map(keyOf));
  return linkable.filter((connection) => {
    const key = keyOf(connection);
    if (taken.has(key)) return false;
    taken.add(key);
    return true;
  });
}
