// Before an install or an upgrade: says in words what is missing, and ends with 1 when anything is. helm/slipway runs
// it as a hook.
import { preflight } from './preflight.js';

const wrong = await preflight(process.env, (line) => console.log(line));
if (wrong.length > 0)
  console.log(
    `\nNothing was installed or changed. What is missing or wrong:\n${wrong.map((sentence) => `  - ${sentence}`).join('\n')}`,
  );
process.exit(wrong.length > 0 ? 1 : 0);
