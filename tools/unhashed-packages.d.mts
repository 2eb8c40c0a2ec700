export interface UnhashedPackage {
  readonly key: string;
  readonly name: string;
  readonly version: string;
  readonly os: readonly string[];
  readonly cpu: readonly string[];
}
export function unhashedPackages(file: string): UnhashedPackage[];
export function installedOn(packages: readonly UnhashedPackage[], platform: string, arch: string): UnhashedPackage[];
