import type { CredentialUse } from '@slipway/contracts/credentials';

/**
 * For which repositories a conversation is given a token of a GitHub App: those that are named, else its own, where it
 * is one of the account at the host of the API. Empty: for none.
 */
export function githubRepositories(
  { apiUrl, account, repositories }: Extract<CredentialUse, { form: 'github-app' }>,
  repository: string | null,
): string[] {
  if (repositories.length > 0) return repositories;
  if (repository === null || !URL.canParse(repository)) return [];
  const { protocol, host, pathname } = new URL(repository);
  const [owner = '', name = '', ...more] = pathname.replace(/^\//, '').replace(/\/+$/, '').split('/');
  const isOfAccount =
    protocol === 'https:' &&
    host === hostOf(apiUrl) &&
    owner.toLowerCase() === account.toLowerCase() &&
    more.length === 0;
  const plain = name.replace(/\.git$/i, '');
  return isOfAccount && /^[A-Za-z0-9._-]{1,100}$/.test(plain) ? [plain] : [];
}

/** Where the repositories of an API are: `api.github.com` and `api.NAME.ghe.com` have theirs a label above. */
function hostOf(apiUrl: string): string {
  const { host } = new URL(apiUrl);
  return /^api\.(?:github\.com|[a-z0-9-]+\.ghe\.com)$/.test(host) ? host.slice('api.'.length) : host;
}
