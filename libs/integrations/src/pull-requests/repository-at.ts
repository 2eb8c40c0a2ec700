import { RepositoryPath } from '@slipway/contracts/repositories';
import { baseUrlOf } from '../base-url.js';

/**
 * `owner/name`, with groups in between where the host has them, of the repository at `url`, as far as it is one of this
 * connection's host; `null` for any other.
 */
export function repositoryAt(
  url: string,
  connection: { readonly host: string; readonly settings: { readonly baseUrl?: string | null } },
): string | null {
  const base = URL.parse(baseUrlOf(connection));
  const parsed = URL.parse(url);
  if (base === null || parsed === null || parsed.origin !== base.origin) return null;
  const prefix = base.pathname.replace(/\/+$/, '');
  if (!parsed.pathname.startsWith(`${prefix}/`)) return null;
  const path = parsed.pathname
    .slice(prefix.length + 1)
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '');
  return RepositoryPath.safeParse(path).success ? path : null;
}
