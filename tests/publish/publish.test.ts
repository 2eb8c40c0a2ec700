import { missingForGitea } from '@slipway/testing/gitea';
import { startGiteaHost } from './gitea-host.ts';
import { publishContract } from './publish-contract.ts';

const lack = await missingForGitea();
if (lack !== null) console.log(`${lack} What needs a real git host is not run.`);
publishContract('a real Gitea', startGiteaHost, lack);
