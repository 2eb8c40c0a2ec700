import type { FullName } from './code-host.js';
import { noRepository } from './provider-refusal.js';

/** One part of a path. */
export const part = (value: string): string => encodeURIComponent(value);

/**
 * The path of a repository. @throws ProviderRefusal `missing` for what is none: a name with `..` or a slash more would
 * be another path.
 */
export function repo(fullName: FullName): string {
  const [owner = '', repository = '', ...rest] = fullName.split('/');
  const odd = [owner, repository].some((each) => !/^[\w.-]{1,200}$/.test(each) || /^\.+$/.test(each));
  if (odd || rest.length > 0) throw noRepository();
  return `/repos/${owner}/${repository}`;
}
