import { startGitLabHost } from './gitlab-host.ts';
import { publishContract } from './publish-contract.ts';

publishContract('a scripted GitLab', startGitLabHost);
