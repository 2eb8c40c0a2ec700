import { z } from 'zod';

/** Longest time for which a new package can be kept away. Days. */
export const MAX_PACKAGE_AGE_DAYS = 365;
/** Most hosts whose files are kept away while they are new. */
export const MAX_PACKAGE_HOSTS = 50;

/** `files.example.com`, or `*.example.com` for every name below it; without a port. */
const PackageHost = z
  .string()
  .max(255)
  .toLowerCase()
  .regex(
    /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
    'is not the name of a host, such as files.example.com or *.example.com',
  );

/** Hosts from which package managers get their files. */
export const PackageHosts = z
  .array(PackageHost)
  .max(MAX_PACKAGE_HOSTS)
  .meta({ examples: [['files.example.com', '*.cdn.example.com']] });

/** Whether files of a host are kept away while they are new. @param host in lower case. */
export function isPackageHost(hosts: readonly string[], host: string): boolean {
  return hosts.some((each) =>
    each.startsWith('*.') ? host.length > each.length - 1 && host.endsWith(each.slice(1)) : host === each,
  );
}
