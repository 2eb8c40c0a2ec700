import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compileGo, findGo } from '../programs/go.js';
import { makeOnce } from '../programs/make-once.js';

export const HELM_VERSION = '4.3.1';
export const HELM_UNITTEST_VERSION = '1.1.2';
/**
 * libs/testing/helm, from libs/testing/dist/helm: the module of helm-unittest, which holds a replace line that `go
 * install` refuses.
 */
const UNITTEST_MODULE = path.resolve(import.meta.dirname, '../../helm');

/** No helm can be had on this machine. The message is one sentence that says what is missing and what to do. */
export class HelmUnavailable extends Error {
  override readonly name = 'HelmUnavailable';
}

export interface Helm {
  /** Paths of the programs. */
  readonly helm: string;
  readonly unittest: string;
}

export interface OpenHelmOptions {
  readonly say?: (line: string) => void;
  readonly signal?: AbortSignal;
}

const folder = (): string =>
  path.join(
    process.env['SLIPWAY_HELM_CACHE'] ?? path.join(os.homedir(), '.cache/slipway/helm'),
    `${HELM_VERSION}-unittest-${HELM_UNITTEST_VERSION}`,
  );

/** What `openHelm` misses, as one sentence; `null` when it can be tried, or is built. */
export function missingForHelm(): string | null {
  if (existsSync(folder()) || findGo() !== null) return null;
  return 'Helm is built from its Go modules, which needs Go 1.26 on the PATH, and there is none.';
}

/**
 * Helm and helm-unittest, built from Go modules where they are not yet: about five minutes on two cores, nothing when
 * they are there. Two builders at once make them once; a build that fails leaves no folder that seems complete.
 *
 * @throws HelmUnavailable without Go; Error with the compiler's last words when it fails.
 */
export async function openHelm({ say = () => {}, signal }: OpenHelmOptions = {}): Promise<Helm> {
  const place = folder();
  const programs = { helm: path.join(place, 'helm'), unittest: path.join(place, 'helm-unittest') };
  if (existsSync(place)) return programs;
  const go = findGo();
  if (go === null) throw new HelmUnavailable(missingForHelm() ?? 'Go is missing.');
  const make = async (making: string): Promise<void> => {
    const flags = ['-trimpath', '-ldflags', `-s -w -X helm.sh/helm/v4/internal/version.version=v${HELM_VERSION}`];
    say(`helm: building ${HELM_VERSION} …`);
    const helm = `helm.sh/helm/v4/cmd/helm@v${HELM_VERSION}`;
    await compileGo({ go, what: 'helm', args: ['install', ...flags, helm], cwd: os.tmpdir(), into: making, signal });
    say(`helm: building helm-unittest ${HELM_UNITTEST_VERSION} …`);
    const program = 'github.com/helm-unittest/helm-unittest/cmd/helm-unittest';
    const args = ['build', ...flags, '-o', path.join(making, 'helm-unittest'), program];
    await compileGo({ go, what: 'helm-unittest', args, cwd: UNITTEST_MODULE, signal });
  };
  await makeOnce(place, { what: 'helm', say, signal, make });
  return programs;
}
