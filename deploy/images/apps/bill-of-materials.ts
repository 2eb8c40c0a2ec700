import type { LockedPackage } from '../image-lock.ts';
import type { NpmPart } from './npm-licences.ts';

export interface BillParts {
  readonly app: string;
  readonly version: string;
  /** ISO 8601. Of the inputs, not of the build. */
  readonly created: string;
  readonly suite: string;
  readonly node: { readonly version: string; readonly sha256: string };
  /** Each with its copyright file. */
  readonly debian: readonly (LockedPackage & { readonly copyright: string })[];
  readonly npm: readonly NpmPart[];
}

/** Debian's release that a suite is, as package URLs name it. */
const RELEASES: Readonly<Record<string, string>> = { bookworm: 'debian-12', trixie: 'debian-13' };

/**
 * What the image is made of, as CycloneDX 1.6 in JSON. The same parts make the same text: it carries no serial number.
 */
export function billOfMaterials({ app, version, created, suite, node, debian, npm }: BillParts): string {
  const reference = `pkg:generic/slipway-${app}@${version}`;
  const components = [
    ...debian.map((one) => ({
      type: 'library',
      name: one.name,
      version: one.version,
      purl: `pkg:deb/debian/${encodeURIComponent(one.name)}@${encodeURIComponent(one.version)}?arch=${one.architecture}&distro=${RELEASES[suite] ?? suite}`,
      hashes: [{ alg: 'SHA-256', content: one.sha256 }],
      licenses: debianLicences(one.copyright).map((name) => ({ license: { name } })),
    })),
    {
      type: 'platform',
      name: 'node',
      version: node.version,
      purl: `pkg:generic/node@${node.version}`,
      hashes: [{ alg: 'SHA-256', content: node.sha256 }],
      licenses: [{ license: { id: 'MIT' } }],
    },
    ...npm.map(({ name, version: at, licence }) => ({
      type: 'library',
      name,
      version: at,
      purl: `pkg:npm/${name.split('/').map(encodeURIComponent).join('/')}@${at}`,
      licenses: [
        /^[A-Za-z0-9.+-]+$/.test(licence) && licence !== 'NOASSERTION'
          ? { license: { id: licence } }
          : { license: { name: licence } },
      ],
    })),
  ].map((component) => ({ 'bom-ref': component.purl, ...component }));
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: created,
      component: {
        'bom-ref': reference,
        type: 'container',
        name: `slipway/${app}`,
        version,
        licenses: [{ license: { id: 'MIT' } }],
      },
    },
    components,
    dependencies: [{ ref: reference, dependsOn: components.map(({ purl }) => purl) }],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** The short names in a copyright file that programs can read; of others, where it is. */
function debianLicences(copyright: string): string[] {
  const names = [...copyright.matchAll(/^License: +(\S.*)$/gm)].map(([, name = '']) => name.trim());
  return names.length === 0 ? ['see the package’s copyright file'] : [...new Set(names)].sort();
}
