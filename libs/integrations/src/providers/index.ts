import type { Provider } from '../provider.js';
import { gitea } from './gitea/index.js';
import { github } from './github/index.js';
import { gitlab } from './gitlab/index.js';
import { jira } from './jira/index.js';
import { linear } from './linear/index.js';
import { slack } from './slack/index.js';

/** Every provider that work comes from and goes to. Another is a folder beside these and a name here. */
export const PROVIDERS = { github, gitlab, gitea, slack, jira, linear } satisfies Record<string, Provider>;
export type ProviderId = keyof typeof PROVIDERS;
