import { missingForGitea } from '@slipway/testing/gitea';
import { startGiteaHost } from './gitea-host.ts';
import { publishContract } from './publish-contract.ts';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
publishContract('a real Gitea', startGiteaHost, missing);
