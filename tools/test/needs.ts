import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Requirements of the suites missing on this machine, each with its remedy. `required`: without it nothing can run. */
export interface Missing {
  readonly required: boolean;
  readonly sentence: string;
}

export function missingNeeds(root: string): Missing[] {
  const missing: Missing[] = [];
  const need = (required: boolean, there: boolean, sentence: string): void => {
    if (!there) missing.push({ required, sentence });
  };
  const [major = 0] = process.versions.node.split('.').map(Number);
  need(true, major >= 24, `The suites need Node 24 and this is ${process.versions.node}: start them with \`npm test\`.`);
  need(true, existsSync(path.join(root, 'node_modules/.package-lock.json')), 'The packages are not installed: run `npm ci`.');
  need(true, onPath('git', '--version'), 'git is not on the PATH: apt-get install git.');
  need(true, onPath('bash', '--version'), 'bash is not on the PATH: apt-get install bash.');
  need(false, onPath('redis-server', '--version'), 'redis-server is not on the PATH, so what needs Redis is skipped: apt-get install redis-server.');
  const chromium = process.env['CHROMIUM_PATH'] !== undefined || ['chromium', 'chromium-browser', 'google-chrome'].some((name) => onPath(name, '--version'));
  need(false, chromium, 'No Chromium is on the PATH, so the screens are not tested in a browser: apt-get install chromium.');
  return missing;
}

function onPath(command: string, argument: string): boolean {
  try {
    execFileSync(command, [argument], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
