// Packages that the lockfile has no hash of. Plain JavaScript for any Node from 20.19 on: `npm start` asks before
// anything is installed.
import { readFileSync } from 'node:fs';

/**
 * @param {string} file path of a package-lock.json
 * @returns {{ key: string, name: string, version: string, os: readonly string[], cpu: readonly string[] }[]} every
 * entry that npm installs without checking a hash
 */
export function unhashedPackages(file) {
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(packages)
    .filter(
      ([key, entry]) =>
        key.includes('node_modules/') &&
        entry.link !== true &&
        entry.inBundle !== true &&
        entry.integrity === undefined,
    )
    .map(([key, { name, version, os = [], cpu = [] }]) => ({
      key,
      name: name ?? key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      os,
      cpu,
    }));
}

/**
 * Those of them that are installed on a platform. Its C library is ignored: one too many is named rather than one too
 * few.
 *
 * @param {ReturnType<typeof unhashedPackages>} packages
 * @param {string} platform as `process.platform`
 * @param {string} arch as `process.arch`
 */
export function installedOn(packages, platform, arch) {
  return packages.filter(
    ({ os, cpu }) => (os.length === 0 || os.includes(platform)) && (cpu.length === 0 || cpu.includes(arch)),
  );
}
